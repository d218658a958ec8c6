/* recipe
name: maintenance/nightly
description: What a batch does every night - embed, index, extract, land what is left to do; with full_refresh, read every turn again.
tags: [nightly]
runs:
  - maintenance/unlearn
  - conversation_memory/embed
  - search/index
  - search/compact
  - conversation_memory/extract
  - conversation_memory/land
params:
  full_refresh: {type: bool, default: false, help: "Forget what was learned from turns first."}
*/
