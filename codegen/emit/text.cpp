#include "codegen/emit/text.h"

#include <algorithm>

namespace heddle::codegen {

void CudaText::raw(std::string_view words) { append(std::string(static_cast<std::size_t>(indent_) * 2, ' ') + std::string(words) + "\n"); }

void CudaText::close(std::string_view words) {
  --indent_;
  raw(words);
}

void CudaText::begin_span(SourceSpan span) {
  open_ = span;
  open_.first_line = lines_ + 1;
}

void CudaText::end_span() {
  open_.last_line = lines_;
  if (open_.first_line <= open_.last_line) spans_.push_back(open_);
}

void CudaText::append(std::string_view lines) {
  text_ += lines;
  lines_ += static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
}

void CudaText::append(const CudaText& other) {
  for (SourceSpan span : other.spans_) {
    span.first_line += lines_;
    span.last_line += lines_;
    spans_.push_back(span);
  }
  append(std::string_view(other.text_));
}

}  // namespace heddle::codegen
