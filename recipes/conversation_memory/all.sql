/* recipe
name: conversation_memory/all
description: Everything between a stored conversation and its memory - embed, index, extract, land, and the summary if asked. Run it as often as you like; it does only what is left to do.
params:
  summarize: {type: bool, default: false, help: "Also carry the rolling summaries forward; that needs a model."}
runs:
  - conversation_memory/embed
  - search/index
  - search/compact
  - conversation_memory/extract
  - conversation_memory/land
  - rolling_summary/update
*/
