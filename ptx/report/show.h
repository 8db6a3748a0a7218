// A run in short: roles with one steady trip each, and rings. As text for people, as JSON for programs (heddle.ptx_show/1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "ptx/report/spell.h"

namespace heddle::ptx {

/// What a role does in a trip, in order; what it repeats at once is one step.
struct ShownStep {
  std::string text;  ///< "wait FULL of K[1]"
  int line = 0;      ///< of the PTX
  std::string source;
  std::int64_t times = 1;
};

struct ShownRole {
  std::string name;  ///< "products w4-w7"
  int cta = 0;
  std::vector<int> warps;  ///< in their CTA
  // Its steady loop, where it has one.
  std::int64_t trips = 0;   ///< 0: it has none
  std::int64_t cycles = 0;  ///< of a trip, the median (predicted); 0 without costs
  int first_line = 0, last_line = 0;
  std::vector<ShownStep> trip;
};

struct ShownSlot {
  std::int64_t begin = 0, end = 0;     ///< bytes of its CTA's shared memory, with those that are reserved in front
  std::int64_t full = -1, empty = -1;  ///< where the barriers lie that say so; -1: none was seen
};

struct ShownRing {
  std::string name;  ///< "K"
  int cta = 0;
  std::vector<ShownSlot> slots;
  std::int64_t copies = 0;
  std::vector<int> lines;  ///< of its copies
};

struct ShownRun {
  std::vector<ShownRole> roles;
  std::vector<ShownRing> rings;
  int ctas = 1;
};

/// `costs`: whether cycles mean anything.
ShownRun shown_run(const RunNames& names, bool costs);

/// A role's loop and trip, then rings, a line each; a trip that is long goes on indented.
std::string show_text(const ShownRun& run, int width);

}  // namespace heddle::ptx
