# jtrace::cli11: CLI11 with one copy of its validators.
#
# Before 2.4 CLI11's header defines its eight ready-made validators as plain constants, so that each translation unit
# that includes it has eight of its own and builds them at every start of the program: 26 times in jtrace, which costs
# a warm `jtrace cmd` a fifth of its time. C++17's `inline` is what later versions say too; the header is copied with
# that one word added. Where no line matches, the copy is the original.
find_path(JTRACE_CLI11_DIRECTORY CLI/Validators.hpp)
set(cli11_copy ${PROJECT_BINARY_DIR}/cli11)
file(COPY ${JTRACE_CLI11_DIRECTORY}/CLI DESTINATION ${cli11_copy} PATTERN Validators.hpp EXCLUDE)
file(READ ${JTRACE_CLI11_DIRECTORY}/CLI/Validators.hpp validators)
string(REGEX REPLACE "\nconst ([^;\n]*);" "\ninline const \\1;" validators "${validators}")
file(CONFIGURE OUTPUT ${cli11_copy}/CLI/Validators.hpp CONTENT "${validators}" @ONLY)

add_library(jtrace_cli11 INTERFACE)
target_include_directories(jtrace_cli11 SYSTEM BEFORE INTERFACE ${cli11_copy})
add_library(jtrace::cli11 ALIAS jtrace_cli11)
