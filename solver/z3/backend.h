// A small formula language and the solver behind it: Booleans, integer differences, clauses, weighted at-most.
//
// Encoders speak only this language, so Z3 stays inside backend.cpp. The language is deliberately no larger than difference
// logic: Z3's dense difference solver is what makes the model fast (with stages as integers the same questions took 14 to
// more than 100 times as long), and a single non-difference atom would take that away.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace heddle::solver {

/// A literal: +n is Boolean n, -n its negation. Boolean 1 is the constant true.
using Lit = std::int32_t;
inline constexpr Lit kTrue = 1;
inline constexpr Lit kFalse = -1;

/// An integer unknown; only differences of two of them ever appear.
using IntVar = std::int32_t;

struct WeightedLit {
  std::int64_t weight = 0;  ///< > 0
  Lit lit = kFalse;
};

enum class Answer { Yes, No, Unknown };

/// "Z3 4.15.4"
std::string backend_version();

inline constexpr std::uint64_t kEffortPerSecond = 1'500'000;

/// Thrown where the caller asked to stop, time ran out or the checker refused; caught where the question was asked.
struct Stopped {};

struct QueryLimits {
  Clock::time_point deadline = Clock::time_point::max();
  std::stop_token stop;

  /// Throws Stopped when it is time to.
  void keep() const {
    if (stop.stop_requested() || Clock::now() >= deadline) throw Stopped{};
  }
};

class Backend {
 public:
  /// Sets the guard for a scope.
  class Guarded {
   public:
    Guarded(Backend& backend, Lit guard) : backend_(backend), before_(backend.guard()) { backend_.set_guard(guard); }
    ~Guarded() { backend_.set_guard(before_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

   private:
    Backend& backend_;
    Lit before_;
  };
  /// Lifts it: definitions of helper literals hold whatever is assumed.
  class Unguarded : Guarded {
   public:
    explicit Unguarded(Backend& backend) : Guarded(backend, kTrue) {}
  };

  Backend(std::uint64_t seed, QueryLimits limits);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// For a backend that outlives the request it was made for.
  void set_limits(QueryLimits limits) { limits_ = std::move(limits); }

  Lit new_lit();
  IntVar new_int();
  /// The atom a - b >= c. The same atom is never made twice, and its negation is shared with b - a >= 1 - c.
  Lit at_least(IntVar a, IntVar b, std::int64_t c);

  /// Every clause added while a guard is set holds only if the guard is assumed: how constraints get names in a core.
  void set_guard(Lit guard) { guard_ = guard; }
  Lit guard() const { return guard_; }

  void add_clause(std::span<const Lit> lits);
  void add_clause(std::initializer_list<Lit> lits) { add_clause(std::span<const Lit>(lits.begin(), lits.size())); }
  /// sum of weights of true literals <= bound, if `condition` holds.
  void add_at_most(std::vector<WeightedLit> terms, std::int64_t bound, Lit condition = kTrue);

  /// Unknown means: stopped, out of time (see QueryLimits), or out of effort. Effort is counted in Z3's own resource units
  /// (kEffortPerSecond of them take about a second), so that giving up early is as repeatable as everything else; 0: no limit.
  Answer check(std::span<const Lit> assumptions = {}, std::uint64_t effort = 0);

  // After Yes.
  bool value(Lit lit) const;
  std::int64_t value(IntVar a, IntVar b) const;  ///< a - b in the model
  // After No: the assumptions that already contradict each other.
  std::vector<Lit> core() const;

  std::int64_t conflicts() const;
  std::size_t clause_count() const { return clauses_; }

 private:
  struct Impl;
  void poll_limits();

  std::unique_ptr<Impl> impl_;
  QueryLimits limits_;
  Lit guard_ = kTrue;
  bool rounded_ = false;  ///< a sum was too large for Z3's numbers: what is refuted may be true
  bool contradiction_ = false;
  std::size_t clauses_ = 0;
};

}  // namespace heddle::solver
