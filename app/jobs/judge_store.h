// Orders that a judge of machine code looked at (app/ask/judge.h), kept: whoever asks again finds the same ones without a search, and with
// them their texts in the compiler's cache.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/ask/judge.h"
#include "app/jobs/content_store.h"
#include "core/schedule/constraints.h"

namespace heddle::app {

/// What the orders are of; how their texts are written and compiled is no part of it.
struct OrdersQuestion {
  const Problem& problem;
  Constraints demands{};
  std::uint64_t seed = 0;
  double seconds = 0;  ///< that the search for them may take, or took
};

/// Each passed the checker again and has the period that it has today. Nothing where none are kept, or where they come from a search of
/// far less time than this one may take.
std::optional<std::vector<NextBest>> find_orders(const ContentStore& store, const OrdersQuestion& question);
/// False: they could not be written, which costs time only.
bool keep_orders(const ContentStore& store, const OrdersQuestion& question, const std::vector<NextBest>& orders);

}  // namespace heddle::app
