// One pass over the text for lines and tokens, then the emitter's spans.
#include "app/jobs/source_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/letters.h"
#include "core/base/scanner.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

constexpr std::array<std::string_view, 45> kKeywords{"__align__",
                                                     "__constant__",
                                                     "__device__",
                                                     "__forceinline__",
                                                     "__global__",
                                                     "__grid_constant__",
                                                     "__launch_bounds__",
                                                     "__shared__",
                                                     "alignas",
                                                     "asm",
                                                     "bool",
                                                     "break",
                                                     "char",
                                                     "const",
                                                     "constexpr",
                                                     "continue",
                                                     "double",
                                                     "else",
                                                     "extern",
                                                     "false",
                                                     "float",
                                                     "for",
                                                     "if",
                                                     "inline",
                                                     "int",
                                                     "long",
                                                     "namespace",
                                                     "reinterpret_cast",
                                                     "return",
                                                     "short",
                                                     "signed",
                                                     "sizeof",
                                                     "static",
                                                     "struct",
                                                     "template",
                                                     "true",
                                                     "typedef",
                                                     "u32",
                                                     "u64",
                                                     "typename",
                                                     "unsigned",
                                                     "using",
                                                     "void",
                                                     "volatile",
                                                     "while"};

class Tokens {
 public:
  explicit Tokens(SourceModel& model) : model_(model) {}

  void line(std::uint32_t begin, std::uint32_t end) {
    SourceLine line;
    line.begin = begin;
    line.end = end;
    line.first_token = static_cast<std::uint32_t>(model_.tokens.size());
    at_ = begin;
    end_ = end;
    while (at_ < end_) step();
    line.tokens = static_cast<std::uint32_t>(model_.tokens.size()) - line.first_token;
    model_.widest = std::max<std::size_t>(model_.widest, end - begin);
    model_.lines.push_back(line);
  }

 private:
  char look(std::uint32_t ahead = 0) const { return at_ + ahead < end_ ? model_.text[at_ + ahead] : '\0'; }
  void add(std::uint32_t begin, Ink ink) { model_.tokens.push_back({begin, at_, ink}); }

  void step() {
    const std::uint32_t begin = at_;
    const std::string_view all(model_.text);
    if (in_comment_ || (look() == '/' && look(1) == '*')) {
      const std::size_t close = all.substr(0, end_).find("*/", in_comment_ ? at_ : at_ + 2);
      in_comment_ = close == std::string_view::npos;
      at_ = in_comment_ ? end_ : static_cast<std::uint32_t>(close + 2);
      return add(begin, Ink::Comment);
    }
    const char c = look();
    if (c == '/' && look(1) == '/') {
      at_ = end_;
      return add(begin, Ink::Comment);
    }
    if (c == '#' && all.substr(line_begin(), at_ - line_begin()).find_first_not_of(' ') == std::string_view::npos) {
      at_ = end_;
      return add(begin, Ink::Directive);
    }
    if (c == '"' || c == '\'') {
      ++at_;
      while (at_ < end_ && look() != c) at_ += look() == '\\' && at_ + 1 < end_ ? 2 : 1;
      at_ = std::min(at_ + 1, end_);
      return add(begin, Ink::Quoted);
    }
    if (is_digit(c)) {
      while (in_name(look()) || look() == '.') ++at_;
      return add(begin, Ink::Number);
    }
    if (in_name(c)) {
      while (in_name(look())) ++at_;
      const std::string_view word = all.substr(begin, at_ - begin);
      if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end()) return add(begin, Ink::Keyword);
      if (look() == '(' || look() == '<') return add(begin, Ink::Call);
      return;
    }
    ++at_;
  }

  std::uint32_t line_begin() const {
    const std::size_t newline = at_ == 0 ? std::string::npos : model_.text.rfind('\n', at_ - 1);
    return newline == std::string::npos ? 0 : static_cast<std::uint32_t>(newline + 1);
  }

  SourceModel& model_;
  std::uint32_t at_ = 0, end_ = 0;
  bool in_comment_ = false;
};

const char* to_words(codegen::StepKind kind) {
  using enum codegen::StepKind;
  switch (kind) {
    case Wait: return "waits";
    case Issue: return "is started";
    case Commit: return "closes the commit group";
    case Retire: return "is awaited";
    case Compute: return "computes";
    case Put: return "hands over";
    case Sync: return "role meets";
    case Arrive: return "arrives";
    case Signal: return "signals its end";
    case AwaitReads: return "loads have arrived";
    case AwaitWrites: return "stores have arrived";
    case FenceBefore:
    case FenceAfter: return "fence";
    case TakeTurn: return "takes its turn, at its named barrier";
    case PassTurn: return "passes the turn, by a named barrier";
    case Advance: return "next slot";
  }
  return "";
}

}  // namespace

SourceModel plain_text_model(std::string text) {
  SourceModel model;
  model.text = std::move(text);
  for (std::size_t at = 0; at < model.text.size();) {
    const std::size_t end = std::min(model.text.find('\n', at), model.text.size());
    SourceLine line;
    line.begin = static_cast<std::uint32_t>(at);
    line.end = static_cast<std::uint32_t>(end);
    model.widest = std::max(model.widest, end - at);
    model.lines.push_back(line);
    at = end + 1;
  }
  return model;
}

SourceModel source_model(const Kernel& kernel, const Problem& problem, const codegen::Program& program, const codegen::Emission& emission) {
  SourceModel model;
  model.text = emission.source;
  Tokens tokens(model);
  for (std::size_t at = 0; at < model.text.size();) {
    const std::size_t end = std::min(model.text.find('\n', at), model.text.size());
    tokens.line(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
    at = end + 1;
  }
  for (const codegen::SourceSpan& span : emission.lines) {
    if (span.first_line < 1 || static_cast<std::size_t>(span.last_line) > model.lines.size()) continue;
    SourceBlock block;
    block.first = static_cast<std::size_t>(span.first_line) - 1;
    block.last = static_cast<std::size_t>(span.last_line) - 1;
    block.op_name = printable(op_of(kernel, span.op).name);
    if (span.op.list == codegen::OpRef::List::Body && span.op.index < problem.ops.size()) block.op = OpId(span.op.index);
    if (span.role < program.roles.size()) block.role = printable(program.roles[span.role].name);
    block.kind = span.kind;
    block.part = span.part;
    block.iteration = span.iteration;
    block.stage = span.stage;
    block.slot = span.slot;
    for (std::size_t line = block.first; line <= block.last; ++line) model.lines[line].block = model.blocks.size();
    model.blocks.push_back(std::move(block));
  }
  return model;
}

const char* to_words(SourcePart part) {
  switch (part) {
    case SourcePart::Begin: return "begin of the tile";
    case SourcePart::Fill: return "fill";
    case SourcePart::Steady: return "steady state";
    case SourcePart::Drain: return "drain";
    case SourcePart::End: return "end of the tile";
  }
  return "";
}

std::string describe(const SourceBlock& block) {
  std::string text = fmt::format("{} {} · {} · {}", block.op_name, to_words(block.kind), block.role, to_words(block.part));
  if (block.slot >= 0) text += fmt::format(", stage {}, slot {}", block.stage, grouped(block.slot));
  if (!block.op.valid()) text += " · once per tile, so it has no bar";
  return text;
}

std::vector<std::size_t> blocks_of(const SourceModel& model, OpId op) {
  std::vector<std::size_t> found;
  for (std::size_t b = 0; b < model.blocks.size(); ++b)
    if (model.blocks[b].op.valid() && model.blocks[b].op == op) found.push_back(b);
  return found;
}

SourcePart part_of_bar(const GanttModel& chart, const GanttBar& bar, const Schedule& schedule, int iterations) {
  if (chart.mode != GanttMode::Pipeline || bar.op.index() >= schedule.ops.size()) return SourcePart::Steady;
  const int window = bar.iteration + schedule.stage(bar.op);
  if (window >= iterations) return SourcePart::Drain;
  return window < stage_count(schedule) - 1 ? SourcePart::Fill : SourcePart::Steady;
}

std::optional<std::size_t> block_for(const SourceModel& model, OpId op, SourcePart part) {
  const std::vector<std::size_t> all = blocks_of(model, op);
  for (const SourcePart wanted : {part, SourcePart::Steady})
    for (const std::size_t b : all)
      if (model.blocks[b].part == wanted) return b;
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<std::size_t> find_lines(const SourceModel& model, std::string_view wanted) {
  std::vector<std::size_t> found;
  if (wanted.empty()) return found;
  for (std::size_t i = 0; i < model.lines.size(); ++i) {
    const std::string_view line = model.line(i);
    if (contains_letters(line, wanted)) found.push_back(i);
  }
  return found;
}

}  // namespace heddle::app
