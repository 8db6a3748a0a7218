// MLIR_ENABLE_DUMP=1 writes the module before every pass to stderr, between whatever else is written there.
#include <algorithm>
#include <map>
#include <optional>

#include "core/base/scanner.h"
#include "core/triton/read/found_texts.h"

namespace heddle::triton {
namespace {

constexpr std::string_view kHeader = "// -----// IR Dump ";
constexpr std::size_t kMostTexts = 20'000;

struct Header {
  std::string pass, pass_class;
};

std::string_view without_blank(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

/// "... Before TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //" to Triton 3.6, since then
/// "... Before TritonGPUPipeline: tritongpu-pipeline{num-stages=3} ('builtin.module' operation) //----- //".
std::optional<Header> header_of(std::string_view line) {
  const std::size_t begin = line.find(kHeader);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(begin + kHeader.size());
  const bool after = rest.starts_with("After ");
  if (!after && !rest.starts_with("Before ")) return std::nullopt;
  rest.remove_prefix(after ? 6 : 7);
  if (const std::size_t op = rest.find(" ('"); op != std::string_view::npos) rest = rest.substr(0, op);
  if (const std::size_t end = rest.find(" //---"); end != std::string_view::npos) rest = rest.substr(0, end);
  rest = without_blank(rest);
  if (rest.ends_with(" Failed")) rest = without_blank(rest.substr(0, rest.size() - 7));
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (rest.starts_with(kAnonymous)) rest.remove_prefix(kAnonymous.size());
  Header header;
  std::string_view pass;
  std::size_t colon = rest.find(": ");
  if (colon != std::string_view::npos) {
    header.pass_class = without_blank(rest.substr(0, colon));
    pass = rest.substr(colon + 2);
    pass = without_blank(pass.substr(0, pass.find('{')));
  } else if (const std::size_t open = rest.rfind(" ("); open != std::string_view::npos && rest.ends_with(")")) {
    header.pass_class = without_blank(rest.substr(0, open));
    pass = rest.substr(open + 2, rest.size() - open - 3);
  } else {
    header.pass_class = rest;
  }
  if (pass.empty() || pass.starts_with("unknown<")) pass = header.pass_class;
  if (const std::size_t scope = pass.rfind("::"); scope != std::string_view::npos) pass = pass.substr(scope + 2);
  header.pass = (after ? "after-" : "") + std::string(pass);
  std::replace_if(
      header.pass.begin(), header.pass.end(), [](char c) { return c == ',' || c == '#'; }, '-');
  return header;
}

bool is_alias(std::string_view line) {
  if (line.empty() || (line[0] != '#' && line[0] != '!')) return false;
  std::size_t end = 1;
  while (end < line.size() && (in_name(line[end]) || line[end] == '.')) ++end;
  return end > 1 && line.substr(end).starts_with(" = ");
}

bool begins_module(std::string_view line) {
  for (const char* word : {"module", "builtin.module", "tt.func", "func.func", "llvm.func", "\"builtin.module\"", "\"tt.func\""})
    if (line.starts_with(word) && (line.size() == std::string_view(word).size() || line[std::string_view(word).size()] == ' ' ||
                                   line[std::string_view(word).size()] == '('))
      return true;
  return false;
}

/// Passes that run once in a compile: when the first pass of a compile is one of them and comes again, another compile begins.
bool runs_once(std::string_view pass) {
  for (const char* once : {"inline", "triton-combine", "convert-triton-to-tritongpu", "tritongpu-coalesce", "tritongpu-assign-latencies",
                           "tritongpu-pipeline"})
    if (pass == once) return true;
  return false;
}

void number_compiles(std::vector<FoundText>& texts) {
  std::map<std::string, int> of_kernel;
  std::string first_pass;
  bool had_layouts = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    FoundText& text = texts[i];
    const bool layouts = has_layouts(text.text);
    bool fresh = i == 0 || text.kernel != texts[i - 1].kernel || (had_layouts && !layouts);
    if (!fresh && !text.pass.empty() && text.pass == first_pass && runs_once(first_pass)) fresh = true;
    if (fresh) {
      first_pass = text.pass;
      text.compile = i;
      text.compile_of_kernel = ++of_kernel[text.kernel];
    } else {
      text.compile = texts[i - 1].compile;
      text.compile_of_kernel = texts[i - 1].compile_of_kernel;
    }
    had_layouts = layouts || (had_layouts && !fresh);
  }
}

void number_runs(std::vector<FoundText>& texts) {
  std::map<std::pair<std::size_t, std::string>, int> runs;
  for (FoundText& text : texts) text.run = ++runs[{text.compile, text.pass}];
}

/// The last before the pipeliner; else the last that has stages, if possible before they were hidden in warp groups; else the last.
void mark_usual(std::vector<FoundText>& texts) {
  std::map<std::size_t, std::pair<int, std::size_t>> best;  // of each compile: how good, which
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i].text;
    const bool staged = text.find("loop.stage = ") != std::string::npos;
    const bool specialized = text.find("ttg.warp_specialize(") != std::string::npos;
    const int good = texts[i].pass == "tritongpu-pipeline" ? 3 : staged && !specialized ? 2 : staged ? 1 : 0;
    const auto [at, fresh] = best.try_emplace(texts[i].compile, good, i);
    if (!fresh && good >= at->second.first) at->second = {good, i};
  }
  for (const auto& [compile, which] : best) texts[which.second].usual = true;
}

/// Takes a log line by line, and cuts the texts out of it.
class LogCutter {
 public:
  LogCutter(std::string_view content, const std::string& path) : content_(content), path_(path) {}

  std::vector<FoundText> texts;
  bool any_header = false;

  void cut() {
    for (std::size_t at = 0; at < content_.size();) {
      const std::size_t line_end = std::min(content_.find('\n', at), content_.size());
      const std::size_t next = std::min(line_end + 1, content_.size());
      std::string_view line = content_.substr(at, line_end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_number_;
      take(line, at, next);
      at = next;
    }
    finish(false);
  }

 private:
  void take(std::string_view line, std::size_t at, std::size_t next) {
    if (in_resources_) {
      in_resources_ = line.find("#-}") == std::string_view::npos;
    } else if (line.starts_with("{-#")) {
      finish(true);
      in_resources_ = line.find("#-}") == std::string_view::npos;
    } else if (std::optional<Header> found = header_of(line)) {
      finish(false);
      header_ = std::move(found);
      any_header = true;
    } else if (in_module_) {
      end_ = next;
      if (line.starts_with("}")) {
        in_module_ = false;
        closed_ = true;
      }
    } else if (is_alias(line)) {
      // Those before a module are its layouts, those behind it its locations: a layout behind a module begins the next text.
      if (closed_ && !line.starts_with("#loc")) finish(false);
      extend(at, next);
    } else if (begins_module(line)) {
      // Functions that are printed without their module follow one another.
      const bool function = line.find("module") == std::string_view::npos;
      if (closed_ && !(function && !header_)) finish(false);
      extend(at, next);
      in_module_ = line.ends_with("{") || line.find(" loc(") == std::string_view::npos;
      if (!in_module_) closed_ = true;
    } else if (closed_ && !without_blank(line).empty()) {
      finish(false);
    } else if (!without_blank(line).empty()) {
      begin_ = std::string_view::npos;  // aliases that no module follows
    }
  }

  void extend(std::size_t at, std::size_t next) {
    if (begin_ == std::string_view::npos) {
      begin_ = at;
      begin_line_ = line_number_;
    }
    end_ = next;
  }

  /// `reproducer`: the text is the one of which a reproducer tells how it was compiled.
  void finish(bool reproducer) {
    if (begin_ != std::string_view::npos && closed_ && texts.size() < kMostTexts) {
      FoundText text;
      text.path = path_;
      text.line = begin_line_;
      text.text = content_.substr(begin_, end_ - begin_);
      text.loaded = true;
      text.kernel = kernel_in(text.text);
      if (header_) {
        text.pass = header_->pass;
        text.pass_class = header_->pass_class;
      } else if (reproducer) {
        text.pass = text.pass_class = "reproducer";
      }
      texts.push_back(std::move(text));
      header_.reset();
    }
    begin_ = std::string_view::npos;
    in_module_ = closed_ = false;
  }

  const std::string_view content_;
  const std::string& path_;
  std::optional<Header> header_;                ///< of the text to come
  std::size_t begin_ = std::string_view::npos;  ///< of the text that is being read
  std::size_t begin_line_ = 0, end_ = 0, line_number_ = 0;
  bool in_module_ = false, closed_ = false;  ///< inside a module; behind one
  bool in_resources_ = false;
};

}  // namespace

std::string kernel_in(std::string_view text) {
  std::string_view found;
  for (std::size_t at = 0; (at = text.find(".func ", at)) != std::string_view::npos; at += 6) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::size_t name = text.substr(0, line_end).find('@', at);
    if (name == std::string_view::npos) continue;
    const std::string_view between = text.substr(at, name - at);
    if (between.find('(') != std::string_view::npos) continue;
    std::size_t end = name + 1;
    const bool quoted = end < line_end && text[end] == '"';
    const std::string_view stops = quoted ? "\"\n" : "( {\n";
    end = std::min(text.find_first_of(stops, end + (quoted ? 1 : 0)), line_end);
    const std::string_view kernel = text.substr(name + (quoted ? 2 : 1), end - name - (quoted ? 2 : 1));
    if (between.find("public") != std::string_view::npos) return std::string(kernel);
    if (found.empty()) found = kernel;
  }
  return std::string(found);
}

bool has_layouts(std::string_view text) {
  if (text.find("tt.func") == std::string_view::npos && text.find("func.func") == std::string_view::npos) return false;
  for (const char* word : {"#ttg.", "#triton_gpu.", "ttg.num-warps", "triton_gpu.num-warps"})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

std::vector<FoundText> cut_log(std::string_view content, const std::string& path) {
  LogCutter cutter(content, path);
  cutter.cut();
  if (!cutter.any_header && cutter.texts.size() <= 1) {
    // One text alone is taken as it is, so that faults and spans are those of the file.
    FoundText text;
    text.path = path;
    text.text = content;
    text.loaded = true;
    text.kernel = kernel_in(content);
    text.usual = true;
    return {std::move(text)};
  }
  std::vector<FoundText> texts = std::move(cutter.texts);
  // What has no layouts yet, or is LLVM's by now, cannot be read as a kernel of tiles.
  std::erase_if(texts, [](const FoundText& text) { return text.text.find(" llvm.func ") != std::string::npos && !has_layouts(text.text); });
  number_compiles(texts);
  std::erase_if(texts, [](const FoundText& text) { return !has_layouts(text.text); });
  number_runs(texts);
  mark_usual(texts);
  return texts;
}

}  // namespace heddle::triton
