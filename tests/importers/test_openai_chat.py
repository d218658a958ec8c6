"""Lists of OpenAI chat messages."""

import pytest

from recall_sql.errors import InputError
from recall_sql.importers import import_file

CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "weather"}}]}


def test_strings_parts_tool_calls_and_images(con, document, turns):
    result = import_file(
        con,
        document(
            [
                {"role": "developer", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "What is"}, {"type": "input_text", "text": "this?"}],
                },
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
                CALL,
                {"role": "tool", "content": "12 °C", "tool_call_id": "c1"},
                {"role": "assistant", "content": None, "refusal": "I can't say."},
                {"role": "assistant", "content": "Cold."},
            ]
        ),
    )
    assert turns() == [
        ("system", "Be brief."),
        ("user", "What is\nthis?"),
        ("tool", "12 °C"),
        ("assistant", "I can't say."),
        ("assistant", "Cold."),
    ]
    assert result.reasons == {"tool calls without words": 1, "images, audio or files without words": 1}
    assert str(result) == (
        "5 turns added to 1 thread; 2 left out (images, audio or files without words: 1, tool calls without words: 1)"
    )


def test_a_tool_call_may_lack_content_altogether(con, document, turns):
    import_file(con, document([{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [1]}]))
    assert turns() == [("user", "x")]


def test_the_body_of_a_request(con, document, turns):
    import_file(con, document({"model": "m", "messages": [{"role": "user", "content": "x"}]}), session_id="s1")
    assert turns("session_id, content") == [("s1", "x")]


def test_the_session_is_called_like_the_file(con, document, turns):
    import_file(con, document([{"role": "user", "content": "x"}], name="monday.json"))
    assert turns("session_id") == [("monday",)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('[\n{"role": "user",\n "content": }]', "line 3: not JSON"),
        ([{"role": "user", "content": "x"}, {"role": "king", "content": "x"}], "message 2: unknown role 'king'"),
        ([{"role": "user", "content": "x"}, "hello"], "message 2: expected a JSON object"),
        ([{"role": "user", "content": ""}], "message 1: empty message"),
        ({"messages": "none"}, "expected a list of messages"),
        ([], "holds no messages"),
    ],
)
def test_what_is_wrong_is_named(con, document, turns, value, message):
    with pytest.raises(InputError, match=message):
        import_file(con, document(value))
    assert turns() == []
