// SddfReader: reads any SDDF ASCII file, record by record. SddfSource: the contents of a file of EdenTV or jtrace as
// events. A fault of syntax, of a count or of a type ends the reading, with file:line:column, the record and the field.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/io/byte_source.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

struct SddfValue {
  std::int64_t number = 0;            // char, int, long
  double real = 0;                    // float, double
  std::string text;                   // char array
  std::vector<std::int64_t> numbers;  // int array
};
struct SddfRecord {
  std::string name;
  std::vector<SddfValue> values;
};

class SddfReader {
 public:
  SddfReader(std::unique_ptr<ByteSource> source, std::string name);
  // Reads the head: SDDFA.
  Result<> begin();
  // Reads the next record; nothing at the end of the file.
  Result<std::optional<SddfRecord>> next();
  // The input has been read completely: what next() has refused was cut off.
  bool is_at_end() const { return ended_ && at_ == size_ && !error_; }
  Position position() const { return start_; }  // of the last record

 private:
  struct Field {
    std::string type, name;
    std::size_t dimensions = 0;
  };
  using Fields = std::vector<Field>;

  int peek();
  int get();
  Error fault(const std::string& text) const;
  Result<> skip_blanks();
  Result<> expect(std::string_view text);
  Result<std::string> string();
  Result<std::string> word();
  Result<> descriptor();
  Result<Field> field();
  Result<SddfRecord> record();
  Result<SddfValue> value(const Field& field, const std::string& record);
  Result<SddfValue> array(const Field& field, const std::string& where);
  std::string unexpected(const Field& field, const std::string& text);
  Result<> scalar(const Field& field, const std::string& where, SddfValue& value);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, size_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
  Position here_{1, 1}, start_{1, 1};
  std::map<std::string, Fields> descriptors_;
};

// `faults`: borrowed; counts the records that have no event.
std::unique_ptr<EventSource> make_sddf_source(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults);

}  // namespace jtrace::trace::io
