// Bytes16: sixteen bytes that are looked at together, by what the machine has for it. load_bytes16() and
// store_bytes16() need no alignment; bytes16_of() makes them of two words, of one word twice, of one byte. is_plain():
// none of the bytes is a control character, beyond ASCII, or one that XML escapes. Pure, any thread.
#pragma once

#if defined(__aarch64__)
#include "trace/plain_bytes_aarch64.h"
#else
#include "trace/plain_bytes_x86_64.h"
#endif
