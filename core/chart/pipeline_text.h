// The pipeline of a schedule as pseudocode: per warp group filling, steady state and draining, line by line; before and after them what the
// kernel does once per tile. The window draws these lines, the command line prints them.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/pipeline_program.h"
#include "core/base/text_style.h"
#include "core/simulate/end_ops.h"

namespace heddle {

struct PipelineTextLine {
  OpId op;            ///< whose line it is; invalid: of the prologue or the epilogue
  OpId other;         ///< whom it waits for; may be invalid
  ChannelId channel;  ///< the ring it touches; may be invalid
  PipelineLine::Kind kind = PipelineLine::Kind::Issue;
  UnitRole role = UnitRole::Other;  ///< of the unit that the op uses
  Cycle slot = 0;                   ///< cycle of the window at which the schedule has it; nothing for ops that have none
  std::string guard;                ///< "if i >= 1"; mostly empty
  std::string verb;                 ///< "consumer_wait", or the op's kind
  std::string object;               ///< "K[i-1]"
  std::string detail;               ///< "slot (i-1)%2 phase ((i-1)/2)&1", "TC 512 cycles"
};

struct PipelineTextSection {
  bool once = false;  ///< the kernel's prologue or epilogue: once per tile, not scheduled
  std::string title;  ///< "steady state: i = 1 .. N-1"
  std::string note;   ///< "N-1 times"
  std::vector<PipelineTextLine> lines;
};

struct PipelineTextGroup {
  std::string title;  ///< "consumer A"
  std::string note;   ///< "4 warps, 2 stages"
  std::vector<PipelineTextSection> sections;
};

struct PipelineText {
  std::string about;               ///< one sentence on what this is and is not, and for which N it holds
  std::vector<std::string> rings;  ///< one line per ring: depth, who fills it, how many releases free a slot
  std::vector<PipelineTextGroup> groups;
};

/// `ends`: prologue and epilogue, of the same schedule; null: they are left out.
PipelineText pipeline_text(const Problem& problem, const Schedule& schedule, const EndOps* ends = nullptr);

/// One line as it is printed, without its cycle: "consumer_wait K[i]  // slot i%2 phase (i/2)&1".
std::string to_string(const PipelineTextLine& line);

/// The whole page. Names are made printable; in ASCII where the style says so.
std::string pipeline_page(const PipelineText& text, const TextStyle& style);

}  // namespace heddle
