// The rules, and small readers of XML and CSV that owe nothing to the writers.
#include "tests/strange/judge.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/command/arguments.h"
#include "app/command/exit_code.h"

namespace heddle::strange {
namespace {

using nlohmann::json;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  ///< bound of what is infeasible

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == ':' || c == '.'; }

/// "&amp;" and the like only.
bool entities_are_whole(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') return false;
    if (text[i] != '&') continue;
    const std::size_t end = text.find(';', i);
    if (end == std::string_view::npos || end == i + 1 || end > i + 10) return false;
    for (std::size_t k = i + 1; k < end; ++k)
      if (!std::isalnum(static_cast<unsigned char>(text[k])) && text[k] != '#') return false;
  }
  return true;
}

bool wants_json(const Line& line) { return line.has("--json"); }

/// What goes to standard output where no file is named.
bool prints_json(const Line& line) {
  const std::string out = line.value("--out").empty() ? line.value("-o") : line.value("--out");
  const bool here = out.empty() || out == "-";
  const std::string format = line.value("--format");
  if (line.command == "export")
    return here && (format == "json" || format == "trace" || format == "schedule_graph" || format == "joint-solver");
  if (line.command == "compare") return here && format == "json";
  return line.command == "schema" || (line.command == "adopt" && here);
}

std::string first_words(const std::string& text) { return text.substr(0, 300); }

void judge_text(const Run& run, std::vector<std::string>& broken) {
  const Line& line = run.line;
  if (const std::string fault = utf8_fault(run.out + run.err); !fault.empty()) broken.push_back("what is printed is no UTF-8: " + fault);
  for (const char* edge : {"9223372036854775807", "-9223372036854775808"}) {
    const bool asked = std::any_of(line.words.begin(), line.words.end(),
                                   [&](const std::string& w) { return w.find("922337203685477") != std::string::npos; });
    if (!asked && (run.out.find(edge) != std::string::npos || run.err.find(edge) != std::string::npos))
      broken.push_back(fmt::format("{} is printed, which is the end of 64 bits and no answer", edge));
  }
  for (const char* word : {"assertion failed", "HEDDLE_ASSERT", "internal error:", "internal fault:", "std::"})
    if (run.err.find(word) != std::string::npos) broken.push_back(fmt::format("\"{}\" is printed: {}", word, first_words(run.err)));
}

void judge_code(const Run& run, std::vector<std::string>& broken) {
  using namespace app;
  const bool on_gpu =
      run.line.command == "run" || run.line.command == "profile" || run.line.command == "compile" || run.line.command == "calibrate";
  switch (run.code) {
    case kDone:
    case kUsage:
    case kInvalidInput:
    case kNegative:
    case kNoProof:
    case kEnvironment: break;
    case kKernelFailed:
      if (on_gpu) break;
      [[fallthrough]];
    default: broken.push_back(fmt::format("exit code {}: {}", run.code, first_words(run.err)));
  }
  if (run.code != kDone && run.code != kNegative && run.code != kNoProof && run.err.empty())
    broken.push_back(fmt::format("exit code {} without a word on standard error", run.code));
  if (run.code == kInvalidInput || run.code == kEnvironment)
    for (const char* nameless : {"heddle: /body", "heddle: /values", "heddle: /rules", "heddle: /groups", "heddle: /ops", "heddle: /loops",
                                 "heddle: /constraints", "heddle: :"})
      if (run.err.find(nameless) != std::string::npos) broken.push_back("an error names no file: " + first_words(run.err));
}

void judge_formats(const Run& run, std::vector<std::string>& broken) {
  using namespace app;
  const Line& line = run.line;
  if (line.has("--help") || line.has("-h")) return;
  if (run.code == kUsage && !wants_json(line) && !run.out.empty())
    broken.push_back("a usage error printed to standard output: " + first_words(run.out));
  if (wants_json(line) || (run.code == kDone && prints_json(line))) {
    const json parsed = json::parse(run.out, nullptr, false);
    if (parsed.is_discarded())
      broken.push_back(fmt::format("exit code {}, and standard output is no JSON: {}", run.code, first_words(run.out)));
  }
  if (run.code == kDone && (line.command == "simulate" || line.command == "traffic" || line.command == "layout") && line.has("--csv") &&
      !wants_json(line))
    if (const std::string fault = csv_fault(run.out); !fault.empty()) broken.push_back("CSV: " + fault);
  const std::string format = line.value("--format");
  const bool here = line.outputs.empty();
  if (run.code == kDone && here && format == "csv")
    if (const std::string fault = csv_fault(run.out); !fault.empty()) broken.push_back("CSV: " + fault);
  if (run.code == kDone && here && format == "svg")
    if (const std::string fault = xml_fault(run.out); !fault.empty()) broken.push_back("SVG: " + fault);
  for (const std::string& file : line.outputs) {
    std::error_code ignored;
    if (run.code == kUsage && std::filesystem::exists(file, ignored) && !std::filesystem::file_size(file, ignored))
      broken.push_back("a usage error left an empty " + file);
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    const std::string text = read_text(file);
    if (file.ends_with(".png")) {
      if (!text.starts_with("\x89PNG\r\n")) broken.push_back(file + " is no PNG");
      continue;
    }
    const bool svg = file.ends_with("picture.svg") || format == "svg" || text.starts_with("<svg") || text.starts_with("<?xml");
    if (svg)
      if (const std::string fault = xml_fault(text); !fault.empty()) broken.push_back("SVG " + file + ": " + fault);
    if (format == "csv" || (line.command == "compare" && format.empty() && file.ends_with(".csv")))
      if (const std::string fault = csv_fault(text); !fault.empty()) broken.push_back("CSV " + file + ": " + fault);
    if (const std::string fault = utf8_fault(text); !fault.empty()) broken.push_back(file + " is no UTF-8: " + fault);
    const bool lines = line.command == "merge" || file.ends_with(".jsonl");
    if ((text.starts_with("{") || format == "trace") && !lines && json::parse(text, nullptr, false).is_discarded())
      broken.push_back(file + " is no JSON");
  }
}

}  // namespace

std::string shell_text(const Line& line) { return "heddle " + app::shell_words(line.words); }

void Judge::note_bound(const Line& line, std::int64_t bound, std::vector<std::string>& broken) {
  Known& known = bounds_[line.numbers][line.demands];
  if (bound > known.number || known.by.empty()) known = {bound, shell_text(line)};
  for (const auto& [demands, found] : found_[line.numbers])
    if ((line.demands.empty() || demands == line.demands) && found.number < bound)
      broken.push_back(fmt::format("II {} was found by {}, but here II is proved to be {}", found.number, found.by,
                                   bound == kNever ? "impossible" : fmt::format("at least {}", bound)));
}

void Judge::note_schedule(const Line& line, std::int64_t ii, std::vector<std::string>& broken) {
  Known& known = found_[line.numbers][line.demands];
  if (ii < known.number || known.by.empty()) known = {ii, shell_text(line)};
  for (const auto& [demands, bound] : bounds_[line.numbers])
    if ((demands.empty() || demands == line.demands) && ii < bound.number)
      broken.push_back(fmt::format(
          "II {} is valid here, but {} by {}", ii,
          bound.number == kNever ? "was proved to be impossible" : fmt::format("at least {} was proved", bound.number), bound.by));
}

std::vector<std::string> Judge::look_at(const Run& run) {
  std::vector<std::string> broken;
  judge_code(run, broken);
  judge_text(run, broken);
  judge_formats(run, broken);
  if (!wants_json(run.line)) return broken;
  const json answer = json::parse(run.out, nullptr, false);
  if (!answer.is_object() || answer.contains("error")) return broken;
  const bool fixed = !run.line.value("--ii").empty();
  if (run.line.command == "solve") {
    const std::string status = answer.value("status", "");
    const bool found = answer.contains("ii") && answer["ii"].is_number();
    if ((status == "optimal" || status == "feasible") != found)
      broken.push_back("status " + status + (found ? " with" : " without") + " a schedule");
    if (found && !answer["checker"].value("valid", false)) broken.push_back("the checker refuses what solve found");
    const std::int64_t bound = answer.value("lower_bound", std::int64_t{0});
    if (found && bound > answer["ii"].get<std::int64_t>())
      broken.push_back(fmt::format("lower bound {} above II {}", bound, answer["ii"].get<std::int64_t>()));
    if (found && status == "optimal" && !fixed && bound != answer["ii"].get<std::int64_t>())
      broken.push_back(fmt::format("optimal at II {} with lower bound {}", answer["ii"].get<std::int64_t>(), bound));
    if (found) note_schedule(run.line, answer["ii"], broken);
    // What was refuted for so many stages only says nothing about the schedules of others.
    const bool of_some = answer.value("explanation", "").find("at most") != std::string::npos;
    if (!fixed && !of_some) note_bound(run.line, status == "infeasible" ? kNever : bound, broken);
    if ((run.code == app::kNegative) != (status == "infeasible"))
      broken.push_back(fmt::format("status {} with exit code {}", status, run.code));
  }
  if (run.line.command == "analyze" && answer.contains("min_ii")) note_bound(run.line, answer["min_ii"], broken);
  if (run.line.command == "check" && answer.contains("valid")) {
    // With --prove the code of a valid schedule says more: whether what its file claims is so.
    const bool valid = answer["valid"].get<bool>(), done = run.code == app::kDone;
    const bool not_least = run.line.has("--prove") && (run.code == app::kNegative || run.code == app::kNoProof);
    if (valid ? !done && !not_least : done) broken.push_back(fmt::format("valid: {} with exit code {}", answer["valid"].dump(), run.code));
    if (answer["valid"].get<bool>()) note_schedule(run.line, answer["ii"], broken);
  }
  return broken;
}

std::vector<std::string> Judge::look_at_check(const Run& written, const Run& check) {
  std::vector<std::string> broken = look_at(check);
  const json verdict = json::parse(check.out, nullptr, false);
  if (check.code != app::kDone)
    broken.push_back(
        fmt::format("check ends with {} for what this command wrote: {} {}", check.code, first_words(check.err), first_words(check.out)));
  const json answer = json::parse(written.out, nullptr, false);
  if (answer.is_object() && answer.contains("ii") && verdict.is_object() && verdict.contains("ii") && answer["ii"] != verdict["ii"])
    broken.push_back(fmt::format("II {} was printed, II {} was written", answer["ii"].dump(), verdict["ii"].dump()));
  return broken;
}

std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t tag = std::min(text.find('<', at), text.size());
    const std::string_view between = std::string_view(text).substr(at, tag - at);
    if (!entities_are_whole(between)) return fmt::format("a bare & before {}", text.substr(tag, 40));
    if (open.empty() && between.find_first_not_of(" \n\r\t") != std::string_view::npos) return "text outside of the root";
    if (tag == text.size()) break;
    if (text.compare(tag, 4, "<!--") == 0 || text.compare(tag, 2, "<?") == 0 || text.compare(tag, 2, "<!") == 0) {
      const char* end = text.compare(tag, 4, "<!--") == 0 ? "-->" : text.compare(tag, 2, "<?") == 0 ? "?>" : ">";
      const std::size_t close = text.find(end, tag);
      if (close == std::string::npos) return "an open comment";
      at = close + std::string(end).size();
      continue;
    }
    std::size_t i = tag + 1;
    const bool closing = i < text.size() && text[i] == '/';
    if (closing) ++i;
    const std::size_t name_begin = i;
    while (i < text.size() && letter(text[i])) ++i;
    const std::string name = text.substr(name_begin, i - name_begin);
    if (name.empty()) return fmt::format("no name after < at {}", tag);
    bool empty = false;
    std::vector<std::string> seen;
    while (i < text.size() && text[i] != '>') {
      if (std::isspace(static_cast<unsigned char>(text[i]))) {
        ++i;
      } else if (text[i] == '/') {
        empty = true;
        ++i;
      } else {
        const std::size_t key = i;
        while (i < text.size() && letter(text[i])) ++i;
        const std::string attribute = text.substr(key, i - key);
        if (attribute.empty() || i + 1 >= text.size() || text[i] != '=' || text[i + 1] != '"')
          return fmt::format("a bad attribute in <{}: {}", name, text.substr(key, 40));
        if (std::find(seen.begin(), seen.end(), attribute) != seen.end()) return fmt::format("<{}> has {} twice", name, attribute);
        seen.push_back(attribute);
        const std::size_t end = text.find('"', i + 2);
        if (end == std::string::npos) return "an open attribute";
        if (!entities_are_whole(std::string_view(text).substr(i + 2, end - i - 2)))
          return fmt::format("a bare & or < in {}", text.substr(key, 60));
        i = end + 1;
      }
    }
    if (i == text.size()) return "an open tag";
    at = i + 1;
    if (closing) {
      if (open.empty() || open.back() != name) return fmt::format("</{}> closes nothing", name);
      open.pop_back();
    } else {
      if (open.empty() && ++roots > 1) return "several roots";
      if (!empty) open.push_back(name);
    }
  }
  if (!open.empty()) return fmt::format("<{}> stays open", open.back());
  return roots == 1 ? "" : "no element";
}

std::string csv_fault(const std::string& text) {
  std::size_t cells = 1, first = 0, row = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',') ++cells;
    if (c != '\n') continue;
    if (row == 1) first = cells;
    if (cells != first) return fmt::format("row {} has {} cells, the first has {}", row, cells, first);
    cells = 1;
    ++row;
  }
  if (quoted) return "an open quote";
  if (text.empty()) return "nothing is written";
  return text.back() == '\n' ? "" : "the last row is not ended";
}

std::string utf8_fault(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const int more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : -1;
    if (more < 0) return fmt::format("byte {:#x} at {}", c, i);
    for (int k = 1; k <= more; ++k)
      if (i + static_cast<std::size_t>(k) >= text.size() ||
          (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0xC0) != 0x80)
        return fmt::format("byte {:#x} at {} is not followed up", c, i);
    i += static_cast<std::size_t>(more) + 1;
  }
  return {};
}

}  // namespace heddle::strange
