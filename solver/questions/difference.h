// "Another program than this one" as clauses: the definition of core/analysis/signature.h, told to a model.
#pragma once

#include <vector>

#include "core/analysis/signature.h"
#include "solver/encoding/model.h"

namespace heddle::solver {

class SignatureDifference {
 public:
  /// Pre: `model` outlives it.
  explicit SignatureDifference(Model& model) : model_(model) {}

  /// From now on the signature differs from that of `schedule`.
  void require_another(const Schedule& schedule, Aspect aspect);
  /// A literal per pair of ops and per ring that is true only if `schedule` is different there.
  std::vector<Lit> places(const Schedule& schedule);
  /// When assumed: signature_distance to the schedule whose places these are is at least `distance`.
  Lit at_least(const std::vector<Lit>& places, int distance);
  /// No distance is greater.
  int greatest() const;

 private:
  using Clause = std::vector<Lit>;
  void other_groups(const Schedule& schedule, Clause& any);
  void other_streams(const Schedule& schedule, Clause& any);
  void other_order(const Schedule& schedule, Clause& any);
  void other_lags(const Schedule& schedule, Clause& any);
  void other_depth(const Schedule& schedule, ChannelId channel, Clause& any);
  void other_lag(const Schedule& schedule, OpId u, OpId v, Clause& any);
  Lit any_of(Clause any);

  Model& model_;
};

}  // namespace heddle::solver
