# jtrace::cli11: CLI11 without its ready-made validators (CLI::ExistingFile, CLI::PositiveNumber...).
#
# The header defines eight of them as constants, before 2.4 in each translation unit, and builds them at every start of
# the program, with string streams: a fifth of the time of a warm `jtrace cmd`, and still 30 us of its 1.1 ms when done
# once. The header is copied without them; cli/command.h has the one that we use. Where no line matches, the copy is the
# original.
#
# All of CLI11 is inline: each source that has the header would compile its classes once more, three of the five seconds that
# the header takes. With g++'s pragmas (clang does without) one source compiles them: cli11.cpp.
#
# And it is copied without <iostream> and std::locale(), which set up eight streams and a locale at every start of a program that
# prints with stdio: App::exit() then takes the streams that it shall write to, what CLI11 says of deprecated options, which we have
# none of, goes nowhere, and letters are those of the C locale, as they were: we set no other. For the same reason join(), which makes
# the name of each option, puts texts together without a stream.
#
# `jtrace --help` sets up the options of all commands: add_option() made each of them twice, and copied all names of each for every
# other one.
set(joined_text [=[
class JoinedText {
  public:
    template <typename T> JoinedText &operator<<(const T &part) {
        if constexpr(std::is_convertible<const T &, std::string>::value) {
            text_ += part;
        } else {
            std::ostringstream one;
            one << part;
            text_ += one.str();
        }
        return *this;
    }
    std::size_t tellp() const { return text_.size(); }
    const std::string &str() const { return text_; }

  private:
    std::string text_;
};

]=])
find_path(JTRACE_CLI11_DIRECTORY CLI/Validators.hpp)
set(cli11_copy ${PROJECT_BINARY_DIR}/cli11)
file(GLOB headers RELATIVE ${JTRACE_CLI11_DIRECTORY}/CLI ${JTRACE_CLI11_DIRECTORY}/CLI/*.hpp)
set(implementations "")
foreach(header IN LISTS headers)
  file(READ ${JTRACE_CLI11_DIRECTORY}/CLI/${header} text)
  if(header STREQUAL "Validators.hpp")
    string(REGEX REPLACE "\nconst ([^;\n]*);" "\n" text "${text}")
  endif()
  if(header STREQUAL "StringTools.hpp")
    string(REPLACE "std::ostringstream s;" "JoinedText s;" text "${text}")
    string(REPLACE "/// Simple function to join a string\n" "${joined_text}/// Simple function to join a string\n" text "${text}")
  endif()
  string(REPLACE "const std::vector<std::string> names," "const std::vector<std::string> &names," text "${text}")
  string(REPLACE "Option myopt{option_name, option_description, option_callback, this};"
    "Option_p made{new Option(option_name, option_description, option_callback, this)};\n        const Option &myopt = *made;"
    text "${text}")
  string(REPLACE "option.reset(new Option(option_name, option_description, option_callback, this));" "option = std::move(made);"
    text "${text}")
  string(REPLACE "#include <iostream>" "#include <istream>\n#include <ostream>" text "${text}")
  string(REGEX REPLACE "std::(isspace|isalpha|isalnum|tolower)(<char>)?\\(([^,()]+|\\*\\(unit_begin - 1\\)), std::locale\\(\\)\\)"
    "std::\\1(static_cast<unsigned char>(\\3))" text "${text}")
  string(REGEX REPLACE " = std::(cout|cerr)" "" text "${text}")
  string(REGEX REPLACE "std::(cout|cerr) <<" "std::ostream(nullptr) <<" text "${text}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(REPLACE "#pragma once\n" "#pragma once\n#pragma interface\n" text "${text}")
    string(APPEND implementations "#pragma implementation \"${header}\"\n")
  endif()
  file(CONFIGURE OUTPUT ${cli11_copy}/CLI/${header} CONTENT "${text}" @ONLY)
endforeach()
file(CONFIGURE OUTPUT ${cli11_copy}/cli11.cpp CONTENT "${implementations}#include <CLI/CLI.hpp>\n" @ONLY)

add_library(jtrace_cli11 STATIC ${cli11_copy}/cli11.cpp)
target_include_directories(jtrace_cli11 SYSTEM BEFORE PUBLIC ${cli11_copy})
add_library(jtrace::cli11 ALIAS jtrace_cli11)
# -O3 took half as long again to compile it, and started no faster.
target_compile_options(jtrace_cli11 PRIVATE $<$<CONFIG:Release>:-O2>)
