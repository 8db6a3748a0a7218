// Pieces are passed on as they come; only a character that has come in part waits for its rest.
#include "app/command/printable_stream.h"

#include <algorithm>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

#include "core/base/text_style.h"

namespace heddle::app {
namespace {

bool plain(char c) { return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t'; }

}  // namespace

class PrintableStream::Buffer final : public std::streambuf {
 public:
  Buffer(std::ostream& to, Keeps keeps) : to_(to), keeps_(keeps) {}

  void pass_all() {
    const std::lock_guard lock(mutex_);
    pass_on(true);
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    held_.append(text, static_cast<std::size_t>(size));
    pass_on(false);
    return size;
  }
  int sync() override {
    const std::lock_guard lock(mutex_);
    pass_on(true);
    to_.flush();
    return to_.good() ? 0 : -1;
  }

 private:
  void pass_on(bool all) {
    std::string out;
    std::size_t at = 0;
    while (at < held_.size()) {
      const std::size_t length = piece(at);
      if (length == 0 && !all) break;
      const std::string_view next = std::string_view(held_).substr(at, std::max<std::size_t>(length, 1));
      out += plain(next[0]) || ours(next) ? std::string(next) : printable(next);
      at += next.size();
    }
    held_.erase(0, at);
    to_.write(out.data(), static_cast<std::streamsize>(out.size()));
  }

  bool ours(std::string_view piece) const {
    if (piece == "\r" || piece == "\x1b[K") return keeps_.redrawing;
    return keeps_.colours && piece.starts_with("\x1b[") && piece.ends_with('m');
  }

  /// Bytes of what begins here: plain text, a sequence that may be ours, one character; 0: its end has not come yet.
  std::size_t piece(std::size_t at) const {
    const std::string_view rest = std::string_view(held_).substr(at);
    if (plain(rest[0])) return static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), plain) - rest.begin());
    if (rest[0] == '\x1b' && (keeps_.colours || keeps_.redrawing)) {
      if (rest.size() > 1 && rest[1] != '[') return 1;
      const std::size_t end = rest.find_first_not_of("0123456789;", 2);
      if (std::min(end, rest.size()) > 16) return 1;
      if (rest.size() < 2 || end == std::string_view::npos) return 0;
      return rest[end] == 'm' || (rest[end] == 'K' && end == 2) ? end + 1 : 1;
    }
    const auto first = static_cast<unsigned char>(rest[0]);
    const std::size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    std::size_t have = 1;
    while (have < std::min(size, rest.size()) && (static_cast<unsigned char>(rest[have]) & 0xc0) == 0x80) ++have;
    return have < size && have == rest.size() ? 0 : have;
  }

  std::ostream& to_;
  const Keeps keeps_;
  std::mutex mutex_;  // lines of progress come from a thread of their own
  std::string held_;
};

PrintableStream::PrintableStream(std::ostream& to, Keeps keeps, bool screen)
    : std::ostream(nullptr), buffer_(std::make_unique<Buffer>(to, keeps)), to_(to), screen_(screen) {
  rdbuf(buffer_.get());
}

PrintableStream::~PrintableStream() { buffer_->pass_all(); }

std::ostream& PrintableStream::data() {
  buffer_->pass_all();
  return screen_ ? *this : to_;
}

}  // namespace heddle::app
