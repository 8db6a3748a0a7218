// A file line by line: what it takes in memory is one line, however long the file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/open_file.h"
#include "core/base/result.h"

namespace heddle {

class LineFile {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;  ///< bytes; what has no end by then has none

  /// Input errors as of open_to_read().
  static Result<LineFile> open(const std::string& path);

  struct Line {
    std::string_view text;    ///< without its end; valid until the next call
    std::int64_t number = 0;  ///< 1 upwards
    bool whole = true;        ///< false: the file ends without ending the line
  };
  /// Nothing at the end of the file. Input errors, after which nothing more comes: a line longer than kLongestLine, a file that cannot be
  /// read.
  Result<std::optional<Line>> next();
  /// Of the whole lines so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  LineFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Error trouble(std::string message);

  std::string path_;
  Descriptor file_;
  std::string held_;  ///< read and not answered yet, from at_ on
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  std::uint64_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace heddle
