/* recipe
name: conversation_memory/all
description: Everything between a stored conversation and its beliefs - embed, extract, land. Run it as often as you like; it does only what is left to do.
runs:
  - conversation_memory/embed
  - conversation_memory/extract
  - conversation_memory/land
*/
