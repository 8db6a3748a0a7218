// What is known of a program's period in the machine's model with contention (core/motion/motion.h), as part of a certificate. Read from
// a file it is a claim, which core/check/period_claim.h judges.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/id.h"

namespace heddle {

struct Problem;

/// Three words for three different things; only the first two are proved.
enum class PeriodStanding {
  LeastOfAll,    ///< all programs were compared (core/check/program_count.h says which are meant)
  WithinBound,   ///< not all were; a bound says how far the period may be from the least
  ByPrediction,  ///< nothing is said of other programs
};
const char* to_string(PeriodStanding standing);  ///< as files have it: "least_of_all", "within_bound", "by_prediction"

struct PeriodProof {
  PeriodStanding standing = PeriodStanding::ByPrediction;
  std::int64_t period = 0;  ///< 1/256 cycles for `iterations` iterations
  std::int64_t iterations = 1;
  std::int64_t bound = 0;  ///< 1/256 cycles an iteration: no program at all is below; 0: no bound
  // Of LeastOfAll: what was compared.
  int groups = 0, stages = 0;  ///< warp groups with products or arithmetic; the most stages
  std::int64_t registers = 0;  ///< per thread, that a group's order has to fit
  std::int64_t orders = 0, programs = 0;
  std::string digest;   ///< of all circles, core/check/program_count.h
  std::string numbers;  ///< motion_hash(): for which numbers of machine and ops it was computed
};

/// Digest of every number that a period depends on and that II does not: contention, the look at a barrier, the work of ops on a warp.
std::string motion_hash(const Problem& problem);

/// "least of all 75 082 programs" ("only program"), "within 3.7 % of a bound" ("least, by a bound"), "by prediction".
std::string standing_text(const PeriodProof& proof);
/// To the nearest whole cycle.
Cycle period_cycles(const PeriodProof& proof);
/// "period 2405 cycles in the machine's model with contention (numbers: see file): the least of all 75 082 programs of two groups that keep
/// the dependences in 3 stages and fit 240 registers; no program at all is below 2321. II 2048 where nothing contends."
std::string period_sentence(const PeriodProof& proof, Cycle ii);

}  // namespace heddle
