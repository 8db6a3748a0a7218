// Micro-kernels for Hopper that show what warp groups take from each other: the numbers of `contention` in a machine file, each by itself.
//
//   accepted       one group, 12 mmas: the clock when each has been accepted, and when all are done
//   served         two groups with 8 mmas each, the second so much later: whose are done when
//   beside         one kind of instruction alone, beside mmas from shared memory, beside mmas from registers; both ways what it costs
//   turn           256 hand-overs of a turn
//   softmax        attention's own softmax of 64 x 128, whole and in parts, alone and beside mmas: do the costs add up?
//   shared-memory  loads from and stores to shared memory beside mmas
//   widths         12 mmas of other widths
//
// Every text has one or two warp groups on one SM, so one warp of each on each quarter of it. The frames are codegen/device/contention.cuh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/calibrate/micro.h"
#include "core/records/contention_reading.h"

namespace heddle::codegen {

inline constexpr const char* kContentionExperiments[] = {"accepted", "served", "beside", "turn", "softmax", "shared-memory", "widths"};

/// What one pass of a text's work has of one warp's instructions. As the text says, or counted from its machine code.
struct ContentionWork {
  int instructions = 0;
  int reads = 0;     ///< of registers
  int specials = 0;  ///< special functions
};

struct ContentionKernel {
  std::string experiment;
  std::string name;        ///< "accepted_ss", "beside_max"
  std::string about;       ///< what it measures, in a line
  MicroKernel micro;       ///< source and launch; its rule is the name
  int width = 128;         ///< columns of its mmas: they take half as many cycles
  bool registers = false;  ///< accepted, widths: A lies in registers
  ContentionWork work{};
};

/// Of an experiment; of all of them where it is empty.
std::vector<ContentionKernel> contention_kernels(const std::string& experiment = {});

/// Mmas that `accepted` issues, and those of each group of `served`, which does it at so many distances.
inline constexpr int kAcceptedMmas = 12, kServedMmas = 8, kServedLeads[] = {0, 64, 160, 300};
inline constexpr int kBesidePasses = 64, kTurnRounds = 128;

/// What a pass of the work has in compiled code: of the loops without mmas that have all special functions and about as many instructions,
/// the one that reads most registers. The text's own where there is none.
ContentionWork counted_work(const ContentionKernel& kernel, const std::string& cubin);

struct ContentionTimes {
  const ContentionKernel* kernel = nullptr;
  std::vector<std::uint64_t> words;  ///< what it wrote; all ones: nothing
  ContentionWork work;
};

/// What the times say of the machine's numbers. Texts that wrote nothing say nothing.
std::vector<ContentionReading> read_contention(const std::vector<ContentionTimes>& times, const Contention& contention);

}  // namespace heddle::codegen
