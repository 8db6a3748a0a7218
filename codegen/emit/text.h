// CUDA text while it is written: lines with their indentation, and which of them are a step's. Parts that are written in another order than
// they are read in are texts of their own, which are appended where they belong.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codegen/emit/emit.h"

namespace heddle::codegen {

class CudaText {
 public:
  /// A line of these words; they may have line ends of their own.
  void raw(std::string_view words);
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    raw(fmt::format(format, std::forward<T>(values)...));
  }
  /// A line, behind which everything stands further to the right, until close().
  template <class... T>
  void open(fmt::format_string<T...> format, T&&... values) {
    line(format, std::forward<T>(values)...);
    ++indent_;
  }
  void open() { open("{{"); }
  void close(std::string_view words = "}");
  /// The same without lines of its own.
  void indent() { ++indent_; }
  void outdent() { --indent_; }

  /// What is written from here on is the span's, which says all but its lines, until end_span(). A span without lines is none.
  void begin_span(SourceSpan span);
  void end_span();

  /// What `write` writes into this text becomes a text of its own, so far to the right of this one, and this one stays as it was.
  template <class Write>
  CudaText apart(Write write, int further = 0) {
    const int indent = indent_;
    CudaText before = std::exchange(*this, CudaText());
    indent_ = indent + further;
    write();
    return std::exchange(*this, std::move(before));
  }
  /// Lines as they are, wherever this text stands; they end with a line end.
  void append(std::string_view lines);
  /// Another text with its spans.
  void append(const CudaText& other);

  bool mentions(std::string_view words) const { return text_.find(words) != std::string::npos; }
  const std::string& str() const { return text_; }
  /// In the order of the text.
  const std::vector<SourceSpan>& spans() const { return spans_; }

 private:
  std::string text_;
  std::vector<SourceSpan> spans_;
  SourceSpan open_;
  int indent_ = 0, lines_ = 0;
};

}  // namespace heddle::codegen
