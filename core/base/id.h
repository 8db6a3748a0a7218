// Strong integer ids. An id is an index into one particular vector (ops, edges, units ...) of the object that owns it;
// ids of different kinds do not convert into each other. A default id is invalid.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace heddle {

/// Cycles are integers everywhere; there is no floating point in a schedule.
using Cycle = std::int64_t;

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::int32_t>(index)) {}

  constexpr bool valid() const { return value_ >= 0; }
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::int32_t value_ = -1;
};

using OpId = Id<struct OpTag>;
using EdgeId = Id<struct EdgeTag>;
using ValueId = Id<struct ValueTag>;
using UnitId = Id<struct UnitTag>;
using ChannelId = Id<struct ChannelTag>;
using GroupId = Id<struct GroupTag>;

}  // namespace heddle

template <class Tag>
struct std::hash<heddle::Id<Tag>> {
  std::size_t operator()(heddle::Id<Tag> id) const { return std::hash<std::size_t>{}(id.index()); }
};
