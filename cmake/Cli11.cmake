# jtrace::cli11: CLI11 without its ready-made validators (CLI::ExistingFile, CLI::PositiveNumber...).
#
# The header defines eight of them as constants, before 2.4 in each translation unit, and builds them at every start of
# the program, with string streams: a fifth of the time of a warm `jtrace cmd`, and still 30 us of its 1.1 ms when done
# once. The header is copied without them; cli/command.h has the one that we use. Where no line matches, the copy is the
# original.
find_path(JTRACE_CLI11_DIRECTORY CLI/Validators.hpp)
set(cli11_copy ${PROJECT_BINARY_DIR}/cli11)
file(COPY ${JTRACE_CLI11_DIRECTORY}/CLI DESTINATION ${cli11_copy} PATTERN Validators.hpp EXCLUDE)
file(READ ${JTRACE_CLI11_DIRECTORY}/CLI/Validators.hpp validators)
string(REGEX REPLACE "\nconst ([^;\n]*);" "\n" validators "${validators}")
file(CONFIGURE OUTPUT ${cli11_copy}/CLI/Validators.hpp CONTENT "${validators}" @ONLY)

add_library(jtrace_cli11 INTERFACE)
target_include_directories(jtrace_cli11 SYSTEM BEFORE INTERFACE ${cli11_copy})
add_library(jtrace::cli11 ALIAS jtrace_cli11)
