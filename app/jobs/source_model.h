// Generated text as the window shows it: lines with light colouring, and blocks of lines that belong to one step of one op, so
// that bars and lines can point at each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit/emit.h"
#include "core/base/id.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

enum class Ink : std::uint8_t { Plain, Keyword, Number, Comment, Quoted, Directive, Call };

struct SourceToken {
  std::uint32_t begin = 0, end = 0;  ///< bytes of the text
  Ink ink = Ink::Plain;
};

using SourcePart = codegen::Section::Part;

/// Lines first .. last of one step.
struct SourceBlock {
  std::size_t first = 0, last = 0;  ///< indices of lines
  OpId op;                          ///< invalid: an op outside the loop, which the schedule does not place
  std::string op_name, role;
  codegen::StepKind kind = codegen::StepKind::Compute;
  SourcePart part = SourcePart::Steady;
  std::int64_t iteration = 0;
  int stage = 0;
  Cycle slot = -1;
};

struct SourceLine {
  std::uint32_t begin = 0, end = 0;  ///< bytes of the text, without the newline
  std::uint32_t first_token = 0, tokens = 0;
  std::optional<std::size_t> block;
};

struct SourceModel {
  std::string text;
  std::vector<SourceLine> lines;
  std::vector<SourceToken> tokens;  ///< of all lines, in order; what is in none is plain
  std::vector<SourceBlock> blocks;  ///< in order
  std::size_t widest = 0;           ///< bytes of the longest line

  std::string_view line(std::size_t index) const {
    return std::string_view(text).substr(lines[index].begin, lines[index].end - lines[index].begin);
  }
  const SourceBlock* block_of(std::size_t line) const { return lines[line].block ? &blocks[*lines[line].block] : nullptr; }
};

SourceModel source_model(const Kernel& kernel, const Problem& problem, const codegen::Program& program, const codegen::Emission& emission);

/// Any other text, line by line.
SourceModel plain_text_model(std::string text);

/// "fill", "steady state", "drain", "begin of the tile", "end of the tile".
const char* to_words(SourcePart part);
/// "MMA0 · consumer A · steady state, stage 0, slot 578 · waits"
std::string describe(const SourceBlock& block);

/// Blocks of this op, in order.
std::vector<std::size_t> blocks_of(const SourceModel& model, OpId op);
/// In which part of the text a bar of the chart is written: of the whole pipeline the filling, steady and draining windows, else the
/// steady state.
SourcePart part_of_bar(const GanttModel& chart, const GanttBar& bar, const Schedule& schedule, int iterations);
/// The first block of the op in this part, else in the steady state, else anywhere.
std::optional<std::size_t> block_for(const SourceModel& model, OpId op, SourcePart part);

/// Indices of lines with this text in them, whatever the case; none for an empty one.
std::vector<std::size_t> find_lines(const SourceModel& model, std::string_view wanted);

}  // namespace heddle::app
