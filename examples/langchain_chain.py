"""A LangChain chain: what is known goes into the system prompt, the conversation is a BaseChatMessageHistory.

python examples/langchain_chain.py
"""

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda

import recall_sql
from recall_sql.integrations.langchain import RecallChatMessageHistory

SAID = ["Hello! I'm vegetarian, and I live in Oslo.", "What could I cook tonight?"]
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "You are a kind cook.\n\n{known}"), MessagesPlaceholder("history"), ("human", "{question}")]
)


def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:
        memory = recall_sql.Memory(con, user_id="me")
        history = RecallChatMessageHistory(memory, "kitchen")

        def generate(prompt: PromptValue) -> AIMessage:  # any chat model of LangChain's does as well
            rows = con.execute("select generate($1, {max_tokens: 60})", [prompt.to_string()]).fetchall()
            return AIMessage(rows[0][0])

        chain = PROMPT | RunnableLambda(generate)
        for question in SAID:
            known = memory.context("kitchen", question, max_turns=0)
            answer = chain.invoke({"known": known, "history": history.messages, "question": question})
            history.add_messages([HumanMessage(question), answer])
            memory.extract()
            print(f"> {question}\n{answer.content}")
        print(memory.context("another day"))


if __name__ == "__main__":
    main()
