// Happens-before: clocks whose components are warps, phases of mbarriers, and queues that work in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::ptx {

/// What can be ordered: a warp (its own steps), the products of a warp group or CTA, the bulk stores or cp.async of a warp, the phases of a
/// barrier. An index into Components.
using Component = std::uint16_t;
/// A step of a component, from 1. Of an mbarrier: the number of completed phases since it was first made.
using Epoch = std::uint32_t;
/// Of what a copy writes while nobody can know it yet.
constexpr Epoch kPending = 0xFFFFFFFFu;

/// For each component the last epoch that is known to be over. Grows with the components that exist.
class Clock {
 public:
  Epoch at(Component component) const { return component < epochs_.size() ? epochs_[component] : 0; }
  void raise(Component component, Epoch epoch) {
    if (component >= epochs_.size()) epochs_.resize(component + 1);
    epochs_[component] = std::max(epochs_[component], epoch);
  }
  void join(const Clock& other) {
    if (epochs_.size() < other.epochs_.size()) epochs_.resize(other.epochs_.size());
    for (std::size_t i = 0; i < other.epochs_.size(); ++i) epochs_[i] = std::max(epochs_[i], other.epochs_[i]);
  }
  /// What both know.
  void meet(const Clock& other) {
    if (epochs_.size() > other.epochs_.size()) epochs_.resize(other.epochs_.size());
    for (std::size_t i = 0; i < epochs_.size(); ++i) epochs_[i] = std::min(epochs_[i], other.epochs_[i]);
  }

 private:
  std::vector<Epoch> epochs_;
};

/// What somebody knows to be over; how much of the generic proxy's writes the async proxy may see of it (fence.proxy.async); and which
/// accesses of tensor memory were over at a tcgen05.fence::before_thread_sync (or commit) of who did them.
struct KnownClocks {
  Clock seen, async, tensor;
  void join(const KnownClocks& other) {
    seen.join(other.seen);
    async.join(other.async);
    tensor.join(other.tensor);
  }
  void meet(const KnownClocks& other) {
    seen.meet(other.seen);
    async.meet(other.async);
    tensor.meet(other.tensor);
  }
};

/// Names of the components, for sentences ("w3", "a product of warp group 1").
class Components {
 public:
  Component add(std::string name) {
    names_.push_back(std::move(name));
    return static_cast<Component>(names_.size() - 1);
  }
  const std::string& name(Component component) const { return names_[component]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

}  // namespace heddle::ptx
