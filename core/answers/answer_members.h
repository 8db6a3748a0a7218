// What the lists of members of several answers share: what stands behind a member, and parts that many have. For .cpp files only, like
// core/formats/members.h.
//
// An answer as it is written is a struct of references to what it is made of. Where it is only described they refer to blank ones.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/bounds.h"
#include "core/analysis/bracket.h"
#include "core/analysis/slack.h"
#include "core/answers/found_period.h"
#include "core/answers/summary.h"
#include "core/formats/choices_json.h"
#include "core/formats/members.h"
#include "core/formats/schedule_json.h"
#include "core/simulate/simulate.h"

namespace heddle {

template <class T>
inline const T blank{};

/// Null elsewhere.
template <class T>
std::optional<T> only_if(bool there, T value) {
  return there ? std::optional<T>(std::move(value)) : std::nullopt;
}
inline std::optional<Cycle> ii_of(const std::optional<Schedule>& schedule) { return schedule ? std::optional(schedule->ii) : std::nullopt; }

namespace as {

/// What one function writes and another describes.
struct Described {
  Json (*describe)(Json& definitions);
  Json write(const Json& json) const { return json; }
  Json schema(const Json&, Json& definitions) const { return describe(definitions); }
};
constexpr Described described_by(Json (*describe)(Json& definitions)) { return {describe}; }

/// An op, unit or ring by its name; null for none.
struct NameIn {
  const Problem& problem;
  Json write(OpId op) const { return op.valid() ? Json(problem.op(op).name) : Json(); }
  Json write(UnitId unit) const { return unit.valid() ? Json(problem.unit(unit).name) : Json(); }
  Json write(ChannelId ring) const { return ring.valid() ? Json(problem.channel(ring).name) : Json(); }
  template <class T>
  Json schema(Id<T>, Json&) const {
    return schema::type("string");
  }
};

/// A warp group by its number; null for none.
struct GroupIndex {
  Json write(GroupId group) const { return group.valid() ? Json(group.index()) : Json(); }
  Json schema(GroupId, Json&) const { return schema::count(); }
};
inline constexpr GroupIndex group_index;

struct Seconds : Real {
  Json write(double value) const { return seconds_json(value); }
};
inline constexpr Seconds seconds;

/// Null where no II is finite.
struct FiniteII {
  Json write(Cycle ii) const { return finite_ii_json(ii); }
  Json schema(Cycle, Json&) const { return schema::or_null(schema::count()); }
};
inline constexpr FiniteII finite_ii;

/// Null where nothing limits it.
struct Limited {
  Json write(Cycle cycles) const { return cycles == kUnlimited ? Json() : Json(cycles); }
  Json schema(Cycle, Json&) const { return schema::or_null(schema::type("integer")); }
};
inline constexpr Limited limited;

/// Null where it is not known, which is 0.
struct IfKnown {
  template <class T>
  Json write(T value) const {
    return value > 0 ? Json(value) : Json();
  }
  template <class T>
  Json schema(T, Json&) const {
    return schema::or_null(schema::type(std::integral<T> ? "integer" : "number"));
  }
};
inline constexpr IfKnown if_known;

/// {"loop": 3}
struct Numbers {
  Json write(const std::vector<std::pair<std::string, std::int64_t>>& numbers) const {
    Json object = Json::object();
    for (const auto& [name, number] : numbers) object.set(name, number);
    return object;
  }
  Json schema(const std::vector<std::pair<std::string, std::int64_t>>&, Json&) const { return schema::params(); }
};
inline constexpr Numbers numbers;

/// {"data": 12, "order": 0, ...}
struct ByStallReason {
  template <class T>
  Json write(const std::array<T, kStallReasons>& stalls) const {
    Json object = Json::object();
    for (std::size_t r = 0; r < kStallReasons; ++r) object.set(to_string(static_cast<StallReason>(r)), stalls[r]);
    return object;
  }
  template <class T>
  Json schema(const std::array<T, kStallReasons>&, Json& definitions) const {
    schema::Object stalls(definitions);
    stalls.called("stalls");
    for (std::size_t r = 0; r < kStallReasons; ++r)
      stalls.required(to_string(static_cast<StallReason>(r)), std::integral<T> ? schema::count() : schema::real());
    return stalls.finish();
  }
};
inline constexpr ByStallReason by_stall_reason;

/// A part of all, in [0, 1].
struct PartOfAll : Real {
  Json schema(double, Json&) const { return schema::real().set("maximum", 1); }
};
inline constexpr PartOfAll part_of_all;

inline constexpr Word<Status> status{"status", Status::Invalid};
inline constexpr Word<BoundReason> bound_reason{"reason", BoundReason::Requested};
inline constexpr Word<PeriodStanding> period_standing{"period_standing", PeriodStanding::ByPrediction};

}  // namespace as

template <class Io>
void visit(Io& io, const PeriodSpread& spread) {
  io.written("mean", spread.mean), io.written("percentile_95", spread.high);
}

template <class Io>
void visit(Io& io, const FoundPeriod& found) {
  io.part("found_period", "The least period that a search found, and what it knows of other programs.");
  io.written("period", found.cycles(), "cycles an iteration, in the rule of motion");
  io.written("standing", found.proof.standing, as::period_standing), io.written("sentence", standing_text(found.proof));
  io.written("bound", static_cast<double>(found.proof.bound) / 256, "no program at all has a shorter period; 0: none is known");
  io.written("programs", found.proof.programs, "all of them, where the period is the least of all");
  io.written("from", found.from, "whose order it is; empty: found by the search");
  io.written("why", found.why, "what keeps it from a better standing; empty: it is the least of all");
}

template <class Io>
void visit(Io& io, const ExactCycles& exact) {
  io.part("exact", "cycles over iterations");
  io.written("cycles", exact.weight), io.written("iterations", exact.tokens), io.written("per_iteration", exact.cycles());
}

template <class Io>
void visit(Io& io, const Fault& fault) {
  io.written("file", fault.file), io.written("pointer", fault.pointer), io.written("message", fault.message);
  io.written("hint", fault.hint);
}

template <class Io>
void visit_choices(Io& io, const LayoutChoices& choices) {
  io.optional("layouts", choices.layouts, as::layout_texts), io.optional("instructions", choices.instructions, as::instruction_names);
}

template <class Io>
void visit(Io& io, const as::InContext<Violation, Problem>& in) {
  const Violation& v = in.part;
  io.part("violation");
  io.written("family", v.family), io.written("message", v.message), io.written("ops", v.ops, as::list(as::NameIn{in.context}));
  io.written("slot", only_if(v.slot >= 0, v.slot)), io.written("amount", v.amount, as::any_integer);
  io.written("limit", v.limit, as::any_integer);
}

template <class Io>
void visit(Io& io, const as::InContext<Verdict, Problem>& in) {
  io.written("valid", in.part.valid()), io.written("violations", in.part.violations, as::list(as::part_in(in.context)));
}

/// What is known about the least II beside a schedule: proved by this process, or what the schedule's file says.
struct LeastIiStanding {
  const char* by = "";
  Status status = Status::Unknown;
  Cycle lower_bound = 0;
};
inline std::optional<LeastIiStanding> standing_of(const Schedule& schedule) {
  const auto& said = schedule.certificate ? schedule.certificate : schedule.claim;
  if (!said) return {};
  return LeastIiStanding{schedule.certificate ? "heddle" : "file", said->status, said->lower_bound};
}

template <class Io>
void visit(Io& io, const LeastIiStanding& standing) {
  io.part("standing", "What is known about the least II: proved by Heddle, or what the schedule's file says.");
  io.written("by", standing.by), io.written("status", standing.status, as::status), io.written("lower_bound", standing.lower_bound);
}

/// What an answer is about.
template <class Io>
void visit_problem(Io& io, const Problem& problem, bool changes = true) {
  io.written("kernel", problem.kernel), io.written("machine", problem.machine), io.written("params", problem.params);
  if (changes) io.written("changes", problem.changes, "numbers that are taken differently");
  io.written("problem_hash", [&] { return problem_hash(problem); });
}

/// The same of an answer about one schedule of it.
template <class Io>
void visit_subject(Io& io, const Problem& problem, const Schedule& schedule) {
  visit_problem(io, problem);
  io.written("schedule", schedule.name, "its name");
  io.written("ii", schedule.ii);
}

template <class Io>
void visit_objectives(Io& io, const std::vector<ObjectiveValue>& objectives) {
  io.written(
      "objectives", [&] { return objectives_json(objectives); }, as::described_by(objectives_schema));
}

/// Where the ops of a schedule stand.
template <class Io>
void visit_placement(Io& io, const Problem& problem, const Schedule* schedule) {
  const auto of = [&](Json (*json)(const Problem&, const Schedule&)) { return schedule ? json(problem, *schedule) : Json::array(); };
  io.written(
      "groups", [&] { return of(groups_json); }, as::described_by(groups_schema));
  io.written(
      "ops", [&] { return of(placements_json); }, as::described_by(placements_schema));
  io.written(
      "channels", [&] { return of(channels_json); }, as::described_by(channels_schema));
}

}  // namespace heddle
