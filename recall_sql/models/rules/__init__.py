"""The rules backend: a deterministic English extractor of facts a speaker states about themself. See docs/rules.md."""

from recall_sql.models.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
