"""The conversations.json of a ChatGPT export: a tree of messages per conversation."""

import pytest

from recall_sql.errors import InputError
from recall_sql.importers import import_file


def node(name, parent, role=None, text="", children=(), **message):
    """A node of the tree; without a role it is the empty root."""
    said = {
        "id": name,
        "author": {"role": role},
        "create_time": 1780000000.5 + len(name),
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {},
        "recipient": "all",
        **message,
    }
    return {"id": name, "parent": parent, "children": list(children), "message": said if role else None}


def conversation(*nodes, **fields):
    return {
        "title": "Trains",
        "create_time": 1780000000.0,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": nodes[-1]["id"],
        "conversation_id": "c-1",
        **fields,
    }


EDITED = conversation(
    node("root", None, children=["a"]),
    node("a", "root", "system", ""),
    node("b", "a", "user", "To Porto, pleese", children=["b1"]),
    node("b1", "b", "assistant", "Never shown last"),
    node("cc", "a", "user", "To Porto, please", children=["ddd"]),
    node("ddd", "cc", "assistant", "By train?"),
)


def test_the_branch_shown_last_becomes_the_thread(con, document, turns):
    result = import_file(con, document([EDITED], name="conversations.json"))
    assert turns("session_id, position, role, content, source_key") == [
        ("c-1", 1, "user", "To Porto, please", "cc"),
        ("c-1", 2, "assistant", "By train?", "ddd"),
    ]
    assert con.execute("select title from chat_threads").fetchall() == [("Trains",)]
    assert turns("created_at::varchar")[0] == ("2026-05-28 20:26:42.5+00",)
    assert (result.turns, result.threads, result.skipped) == (2, 1, 1)


def test_without_a_current_node_the_latest_leaf_is_taken(con, document, turns):
    import_file(con, document([{**EDITED, "current_node": None}]))
    assert turns("content") == [("To Porto, please",), ("By train?",)]


def test_what_is_not_shown_is_counted_and_left_out(con, document, turns):
    tree = conversation(
        node("r", None),
        node("1", "r", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        node("2", "1", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        node("3", "2", "assistant", content={"content_type": "code", "text": "search()"}, recipient="browser"),
        node("4", "3", "tool", content={"content_type": "execution_output", "text": "42"}),
        node(
            "5",
            "4",
            "user",
            content={"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "Look", {"text": "here"}]},
        ),
        node("6", "5", "user", content={"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}]}),
    )
    result = import_file(con, document([tree]))
    assert turns() == [("tool", "42"), ("user", "Look\nhere")]
    assert result.reasons == {
        "messages ChatGPT doesn't show": 2,
        "tool calls without words": 1,
        "messages without words": 1,
    }


def test_a_grown_export_adds_only_what_is_new(con, document):
    second = conversation(node("r", None), node("x", "r", "user", "Hello"), conversation_id="c-2", title=None)
    import_file(con, document([EDITED]))
    again = import_file(con, document([{**EDITED, "title": "Trains to Porto"}, second]))
    assert (again.turns, again.already, again.threads) == (1, 2, 2)
    assert con.execute("select title from chat_threads order by session_id").fetchall() == [
        ("Trains to Porto",),
        (None,),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([EDITED, {"title": "x"}], "conversation 2: it has no 'mapping'"),
        ([conversation(node("a", "lost", "user", "x"))], "the message 'lost' is named but isn't there"),
        ([conversation(node("a", "b", "user", "x"), node("b", "a", "user", "x"))], "circle"),
        ([conversation(node("r", None), node("a", "r", "wizard", "x"))], "unknown role 'wizard'"),
        ('[{"mapping": {}, }]', "line 1: not JSON"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_imported(con, document, turns, value, message):
    with pytest.raises(InputError, match=message):
        import_file(con, document(value), format="chatgpt")
    assert turns() == []


def test_columns_can_not_be_mapped(con, document):
    with pytest.raises(InputError, match="no columns to map"):
        import_file(con, document([EDITED]), mapping={"role": "x"})
