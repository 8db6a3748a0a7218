// The configurations of a space that satisfy its constraints, as a chain of trees (Rasch et al., ATF, TACO 2021; used by BaCO, Hellsten et
// al., ASPLOS 2023): parameters that share a constraint form a group, each group is a tree with one level per parameter and one leaf per
// combination that its constraints allow, and the space is the product of all leaves. Every node knows how many leaves are below it, so
// that counting, the n-th configuration and uniform sampling are exact without listing the product. Real parameters stand beside the trees.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/base/result.h"
#include "core/tuning_space/space.h"

namespace heddle {

class ChainOfTrees {
 public:
  /// Errors: constraints that leave nothing, or that tie together more combinations than can be listed (kMostNodes).
  /// Pre: validate(space) has no faults.
  static Result<ChainOfTrees> build(const SearchSpace& space, const std::stop_token& stop = {});

  static constexpr std::size_t kMostNodes = 2'000'000;

  /// Of the finite parameters; kSaturated (core/base/saturate.h) when there are more than fit.
  std::int64_t size() const { return size_; }
  /// All combinations without constraints, saturated too.
  std::int64_t unconstrained() const { return unconstrained_; }
  bool has_reals() const { return !reals_.empty(); }
  std::size_t trees() const { return groups_.size(); }
  /// Parameters of one tree, and its leaves.
  const std::vector<std::size_t>& parameters_of(std::size_t tree) const;
  std::int64_t leaves(std::size_t tree) const;

  /// The configuration with this number, 0 to size() - 1; real parameters at their defaults.
  Config at(std::int64_t number) const;
  /// The way back; nothing where a constraint forbids it.
  std::optional<std::int64_t> number_of(const Config& config) const;
  bool contains(const Config& config) const { return number_of(config).has_value(); }
  const SearchSpace& space() const { return *space_; }

 private:
  struct Group;
  std::shared_ptr<const SearchSpace> space_;
  std::vector<std::shared_ptr<const Group>> groups_;
  std::vector<std::size_t> reals_;
  std::int64_t size_ = 1, unconstrained_ = 1;
};

}  // namespace heddle
