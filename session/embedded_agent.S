/* The bytes of JTRACE_AGENT_FILE (session/embedded_agent.cmake) as read-only data. */
    .section .rodata
    .balign 16
    .global jtrace_embedded_agent_begin
    .global jtrace_embedded_agent_end
jtrace_embedded_agent_begin:
    .incbin JTRACE_AGENT_FILE
jtrace_embedded_agent_end:
    .section .note.GNU-stack,"",%progbits
