// The pipeline of a schedule as pseudocode: per warp group prologue, steady state and epilogue, line by line. The window
// draws these lines, the command line prints them.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/pipeline_program.h"
#include "core/base/text_style.h"

namespace heddle {

struct PipelineTextLine {
  OpId op;            ///< whose line it is
  OpId other;         ///< whom it waits for; may be invalid
  ChannelId channel;  ///< the ring it touches; may be invalid
  PipelineLine::Kind kind = PipelineLine::Kind::Issue;
  Cycle slot = 0;      ///< cycle of the window at which the schedule has it
  std::string guard;   ///< "if i >= 1"; mostly empty
  std::string verb;    ///< "consumer_wait", or the op's kind
  std::string object;  ///< "K[i-1]"
  std::string detail;  ///< "slot (i-1)%2 phase ((i-1)/2)&1", "TC 512 cycles"
};

struct PipelineTextSection {
  PipelineWindow::Part part = PipelineWindow::Part::Steady;
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

PipelineText pipeline_text(const Problem& problem, const Schedule& schedule);

/// One line as it is printed, without its cycle: "consumer_wait K[i]  // slot i%2 phase (i/2)&1".
std::string to_string(const PipelineTextLine& line);

/// The whole page. Names are made printable; in ASCII where the style says so.
std::string pipeline_page(const PipelineText& text, const TextStyle& style);

}  // namespace heddle
