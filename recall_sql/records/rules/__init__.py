"""Records without a model: which schema a message is about, what it wants done, and the fields it names.

Deterministic English rules. `detect.py` is the way in for messages, `questions.py` for questions; `lexicon.yaml` holds
what they know of the language. Money and numbers are read by models/rules, as for facts.
"""
