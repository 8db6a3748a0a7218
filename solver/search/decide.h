// One question: is there a schedule at this II, with at most this many stage numbers? Builds a model, checks, and refines
// registers until the answer stands.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solver/encoding/model.h"
#include "solver/encoding/registers.h"

namespace heddle::solver {

/// A model with all its families, kept alive for further questions at the same II.
class LiveModel {
 public:
  LiveModel(const Problem& problem, const Constraints& constraints, const ModelOptions& options);

  /// Yes fills `schedule` (starts as in the model, depths and register budgets tightened). `register_cap` tightens the cap
  /// on every group's budget; pass the matching assumption along. `effort`: see Backend::check.
  Answer check(std::span<const Lit> assumptions, Schedule& schedule, std::optional<std::int64_t> register_cap = {},
               std::uint64_t effort = 0);

  /// What every check assumes from now on, besides its own assumptions, and the cap on registers that goes with it.
  void set_context(std::vector<Lit> assumptions, std::optional<std::int64_t> register_cap = {});
  /// A literal that constraints hang on, made the first time its name is asked for. In a switchable model every check that
  /// does not assume it assumes the contrary, so that what is switched off costs no search.
  Lit switch_named(const std::string& name, const std::function<Lit()>& make);
  std::size_t switch_count() const { return switches_.size(); }

  Model& model() { return model_; }
  RegisterFamily& registers() { return registers_; }
  std::int64_t queries() const { return queries_; }

 private:
  Model model_;
  RegisterFamily registers_;
  std::vector<Lit> context_;
  std::optional<std::int64_t> context_cap_;
  std::map<std::string, Lit> switches_;
  std::int64_t queries_ = 0;
};

}  // namespace heddle::solver
