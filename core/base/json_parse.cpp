// JSON text to tree: nlohmann's event parser drives it (iterative, so nesting cannot exhaust the stack), and this
// listener keeps key order, exact integers, and the pointer of where it is.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json.h"

namespace heddle {
namespace {

constexpr std::size_t kMaxNesting = 64;
constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::size_t kMaxMembers = 10'000;  ///< of one object: they are looked up one after another

/// What a text is that a compiler printed; null: no such text. JSON of any kind begins otherwise.
const char* compiler_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || std::string_view("{[\"").find(text[first]) != std::string_view::npos) return nullptr;
  const auto has = [head = text.substr(0, 1 << 20)](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (has("ttg.") || has("ttng.") || has("triton_gpu.")) return "TTGIR (MLIR of Triton's GPU dialects)";
  if (has("tt.func")) return "TTIR (MLIR of Triton)";
  if (has("func.func") || has("llvm.func") || has("gpu.module")) return "MLIR";
  if (has("define ") && has("target triple")) return "LLVM IR";
  if (has(".version") && has(".target sm_")) return "PTX";
  return nullptr;
}

class Listener {
 public:
  Listener(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool null() { return scalar(Json()); }
  bool boolean(bool value) { return scalar(Json(value)); }
  bool number_integer(std::int64_t value) { return scalar(Json(value)); }
  bool number_unsigned(std::uint64_t value) { return scalar(Json(value)); }
  bool number_float(double value, const std::string& text) { return scalar(Json::number(text, value)); }
  bool string(std::string& value) { return scalar(Json(std::move(value))); }
  bool binary(std::vector<std::uint8_t>&) { return false; }

  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Level& level = open_.back();
    if (level.keys.size() >= kMaxMembers) return give_up(fmt::format("more than {} keys in one object", kMaxMembers));
    level.key = name;
    level.repeated = !level.keys.insert(name).second;
    if (level.repeated) faults_.push_back({file_, pointer(), "key given twice in one object", "keep one of the two"});
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& exception) {
    std::string what = exception.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing value - reason"
    for (const char* mark : {" - ", "] "}) {
      const auto at = what.find(mark);
      if (at == std::string::npos) continue;
      what = what.substr(at + std::string_view(mark).size());
      break;
    }
    // Where the offending character stands; one past the last at the end of the text.
    const std::size_t end = std::min(position > 0 ? position - 1 : 0, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    const auto newline = end > 0 ? text_.rfind('\n', end - 1) : std::string_view::npos;
    const std::size_t column = newline == std::string_view::npos ? end + 1 : end - newline;
    std::string hint;
    const std::size_t content = text_.find_last_not_of(" \t\r\n", end > 0 ? end - 1 : 0);
    const bool trailing_comma =
        content != std::string_view::npos && text_[content] == ',' && end < text_.size() && (text_[end] == ']' || text_[end] == '}');
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      hint = "the file is empty";
    else if (what.find("unexpected end of input") != std::string::npos)
      hint = "the file is cut short";
    else if (trailing_comma)
      hint = "remove the comma before the closing bracket";
    else if (token.find("Na") != std::string::npos || token.find("In") != std::string::npos)
      hint = "JSON has no NaN and no infinity";
    if (const char* language = compiler_text(text_)) {
      faults_.push_back(
          {file_,
           {},
           fmt::format("this is {}, a compiler's text and not JSON; it is not read yet", language),
           "what can be read is what the modulo scheduler of the Triton fork facebookexperimental/triton dumps as JSON: compile "
           "the kernel there with TRITON_MODULO_DUMP_SCHEDULE=FILE.json (schedule_graph) or TRITON_MODULO_DUMP_DDG=FILE.json "
           "(ddg-0.1); heddle new writes a kernel of the same shape from a pattern"});
      return false;
    }
    if (what.size() > 300) what = what.substr(0, 300) + "...";
    faults_.push_back({file_, pointer(), fmt::format("not valid JSON at line {}, column {}: {}", line, column, what), hint});
    return false;
  }

  bool failed() const { return !faults_.empty(); }
  std::vector<Fault> take_faults() { return std::move(faults_); }
  Json take_root() { return std::move(root_); }

 private:
  struct Level {
    Json value;
    std::string key;
    std::set<std::string> keys;
    bool repeated = false;
  };

  std::string pointer() const {
    std::string text;
    for (const Level& level : open_) {
      if (const Json::Array* items = level.value.items())
        text = pointer_to(text, items->size());
      else if (!level.keys.empty())
        text = pointer_to(text, level.key);
    }
    return text;
  }

  bool give_up(std::string message) {
    faults_.push_back({file_, pointer(), std::move(message), {}});
    return false;
  }

  bool scalar(Json value) {
    if (++count_ > kMaxValues) return give_up(fmt::format("more than {} values in one file", kMaxValues));
    add(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= kMaxNesting) return give_up(fmt::format("nested deeper than {} levels", kMaxNesting));
    if (++count_ > kMaxValues) return give_up(fmt::format("more than {} values in one file", kMaxValues));
    open_.push_back({std::move(container), {}, {}, false});
    return true;
  }

  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(done));
    return true;
  }

  void add(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().value.is_array())
      open_.back().value.push(std::move(value));
    else if (!open_.back().repeated)
      open_.back().value.members()->push_back({open_.back().key, std::move(value)});
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<Level> open_;
  std::vector<Fault> faults_;
  Json root_;
  std::size_t count_ = 0;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& file) {
  Listener listener(text, file);
  nlohmann::json::sax_parse(text.begin(), text.end(), &listener);
  if (listener.failed()) return Error{ErrorKind::Input, listener.take_faults()};
  return listener.take_root();
}

}  // namespace heddle
