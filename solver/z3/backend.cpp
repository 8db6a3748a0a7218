// Z3's plain solver without tactics, relevancy off and dense difference logic (arith.solver 3): what Z3 chooses by itself for the same
// formula took 2 to 9 times as long. An interrupt sent before a query has begun is lost, so a helper thread repeats it every few
// milliseconds until the query returns.

#include "solver/z3/backend.h"

#include <z3++.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "core/base/assert.h"
#include "core/base/hand_over.h"

namespace heddle::solver {

std::string backend_version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return "Z3 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

namespace {

constexpr std::size_t kManyClauses = 1'000'000;

z3::solver make_solver(z3::context& context, std::uint64_t seed) {
  z3::solver solver(context, z3::solver::simple());
  z3::params params(context);
  params.set("auto_config", false);
  params.set("ctrl_c", false);  // else Z3 takes over SIGINT, and a Ctrl-C ends one query instead of the search
  params.set("relevancy", 0u);
  params.set("arith.solver", 3u);
  params.set("random_seed", static_cast<unsigned>(seed));
  solver.set(params);
  return solver;
}

/// While alive, a stop request interrupts the context again and again.
class Interrupter {
 public:
  Interrupter(z3::context& context, std::stop_token stop) {
    if (!stop.stop_possible()) return;
    thread_ = std::jthread([this, &context, stop](std::stop_token finished) {
      // The word is given under the lock: between the look and the wait it would be lost, and the query went on to its own end.
      const std::stop_callback wake(stop, [this] {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
      });
      std::unique_lock lock(mutex_);
      changed_.wait(lock, finished, [&] {
        const bool asked = stop.stop_requested();
        hand_over_point();
        return asked;
      });
      while (!finished.stop_requested()) {
        context.interrupt();
        changed_.wait_for(lock, finished, std::chrono::milliseconds(5), [] { return false; });
      }
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: joined before what it uses goes away
};

}  // namespace

struct Backend::Impl {
  explicit Impl(std::uint64_t seed) : solver(make_solver(context, seed)) {
    positive.resize(2);
    negative.resize(2);
    positive[1] = keep(Z3_mk_true(context));
    negative[1] = keep(Z3_mk_false(context));
  }

  Z3_ast keep(Z3_ast ast) {
    context.check_error();
    Z3_inc_ref(context, ast);
    kept.push_back(ast);
    return ast;
  }

  ~Impl() {
    for (Z3_ast ast : kept) Z3_dec_ref(context, ast);
  }

  Lit add_atom(Z3_ast ast) {
    const Lit lit = static_cast<Lit>(positive.size());
    positive.push_back(keep(ast));
    negative.push_back(keep(Z3_mk_not(context, ast)));
    return lit;
  }

  Z3_ast ast(Lit lit) const { return lit > 0 ? positive[static_cast<std::size_t>(lit)] : negative[static_cast<std::size_t>(-lit)]; }

  z3::context context;
  z3::solver solver;
  std::optional<z3::model> found;
  std::vector<Z3_ast> kept;
  std::vector<Z3_ast> positive, negative;
  std::vector<Z3_ast> ints;
  std::map<std::tuple<IntVar, IntVar, std::int64_t>, Lit> atoms;
  std::vector<Lit> last_core;
};

Backend::Backend(std::uint64_t seed, QueryLimits limits) : impl_(std::make_unique<Impl>(seed)), limits_(std::move(limits)) {}

Backend::~Backend() = default;

Lit Backend::new_lit() { return impl_->add_atom(Z3_mk_fresh_const(impl_->context, "b", impl_->context.bool_sort())); }

IntVar Backend::new_int() {
  impl_->ints.push_back(impl_->keep(Z3_mk_fresh_const(impl_->context, "r", impl_->context.int_sort())));
  return static_cast<IntVar>(impl_->ints.size()) - 1;
}

Lit Backend::at_least(IntVar a, IntVar b, std::int64_t c) {
  if (a == b) return c <= 0 ? kTrue : kFalse;
  if (a > b) return -at_least(b, a, 1 - c);  // a - b >= c  <=>  not (b - a >= 1 - c)
  const auto [entry, fresh] = impl_->atoms.try_emplace({a, b, c}, 0);
  if (fresh) {
    Z3_context context = impl_->context;
    Z3_ast difference[2] = {impl_->ints[static_cast<std::size_t>(a)], impl_->ints[static_cast<std::size_t>(b)]};
    z3::expr sum(impl_->context, Z3_mk_sub(context, 2, difference));
    z3::expr bound(impl_->context, Z3_mk_int64(context, c, impl_->context.int_sort()));
    entry->second = impl_->add_atom(Z3_mk_ge(context, sum, bound));
  }
  return entry->second;
}

void Backend::poll_limits() { limits_.keep(); }

void Backend::add_clause(std::span<const Lit> lits) {
  if ((++clauses_ & 0xff) == 0) poll_limits();
  Z3_ast kept[64];
  std::vector<Z3_ast> many;
  unsigned count = 0;
  const auto push = [&](Z3_ast ast) {
    if (many.empty() && count < 64) {
      kept[count++] = ast;
      return;
    }
    if (many.empty()) many.assign(kept, kept + count);
    many.push_back(ast);
  };
  for (Lit lit : lits) {
    if (lit == kTrue) return;
    if (lit != kFalse) push(impl_->ast(lit));
  }
  if (guard_ != kTrue) push(impl_->ast(-guard_));
  if (!many.empty()) count = static_cast<unsigned>(many.size());
  if (count == 0) {
    contradiction_ = true;
    return;
  }
  const Z3_ast* first = many.empty() ? kept : many.data();
  z3::expr clause(impl_->context, count == 1 ? first[0] : Z3_mk_or(impl_->context, count, first));
  Z3_solver_assert(impl_->context, impl_->solver, clause);
  impl_->context.check_error();
}

void Backend::add_at_most(std::vector<WeightedLit> terms, std::int64_t bound, Lit condition) {
  if (condition == kFalse) return;
  std::int64_t total = 0;
  std::erase_if(terms, [&](const WeightedLit& t) {
    HEDDLE_ASSERT(t.weight >= 0, "weights are not negative");
    if (t.lit == kTrue) bound -= t.weight;
    return t.lit == kFalse || t.lit == kTrue || t.weight == 0;
  });
  if (bound < 0) return add_clause({-condition});
  for (WeightedLit& t : terms) {
    t.weight = std::min(t.weight, bound + 1);
    total += t.weight;
  }
  if (total <= bound) return;
  if (bound == 0) {  // plain clauses propagate better
    for (const WeightedLit& t : terms) add_clause({-condition, -t.lit});
    return;
  }
  // Z3 takes 32-bit coefficients. What all weights have in common goes without loss; then everything is divided, rounding so that the
  // constraint only gets tighter: solutions stay solutions, and refutations prove nothing any more.
  std::int64_t common = 0;
  for (const WeightedLit& t : terms) common = std::gcd(common, t.weight);
  for (WeightedLit& t : terms) t.weight /= common;
  bound /= common, total /= common;
  std::int64_t divisor = 1;
  while (total / divisor > std::numeric_limits<int>::max() / 2) divisor *= 2;
  rounded_ |= divisor > 1;
  std::vector<Z3_ast> asts;
  std::vector<int> weights;
  for (const WeightedLit& t : terms) {
    asts.push_back(impl_->ast(t.lit));
    weights.push_back(static_cast<int>((t.weight + divisor - 1) / divisor));
  }
  Z3_context context = impl_->context;
  z3::expr sum(impl_->context,
               Z3_mk_pble(context, static_cast<unsigned>(asts.size()), asts.data(), weights.data(), static_cast<int>(bound / divisor)));
  std::vector<Z3_ast> conditions;
  if (condition != kTrue) conditions.push_back(impl_->ast(-condition));
  if (guard_ != kTrue) conditions.push_back(impl_->ast(-guard_));
  if (conditions.empty()) {
    Z3_solver_assert(context, impl_->solver, sum);
  } else {
    conditions.push_back(sum);
    z3::expr clause(impl_->context, Z3_mk_or(context, static_cast<unsigned>(conditions.size()), conditions.data()));
    Z3_solver_assert(context, impl_->solver, clause);
  }
  impl_->context.check_error();
}

Answer Backend::check(std::span<const Lit> assumptions, std::uint64_t effort) {
  impl_->last_core.clear();
  impl_->found.reset();
  if (contradiction_) return Answer::No;
  for (Lit lit : assumptions)
    if (lit == kFalse) {
      impl_->last_core = {lit};
      return Answer::No;
    }
  const auto now = Clock::now();
  if (limits_.stop.stop_requested() || now >= limits_.deadline) return Answer::Unknown;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::min<Clock::duration>(limits_.deadline - now, std::chrono::hours(24)));
  impl_->solver.set("timeout", static_cast<unsigned>(std::max<std::int64_t>(1, left.count())));

  // This pass of the preprocessor cannot be interrupted, and takes many seconds on so many clauses.
  if (clauses_ > kManyClauses) impl_->solver.set("propagate_values", false);
  impl_->solver.set("rlimit", static_cast<unsigned>(std::min<std::uint64_t>(effort, std::numeric_limits<unsigned>::max())));

  std::vector<Z3_ast> asts;
  std::map<unsigned, Lit> of_ast;
  for (Lit lit : assumptions)
    if (lit != kTrue) {
      asts.push_back(impl_->ast(lit));
      of_ast[Z3_get_ast_id(impl_->context, impl_->ast(lit))] = lit;
    }
  Z3_lbool result = Z3_L_UNDEF;
  {
    Interrupter interrupter(impl_->context, limits_.stop);
    result = Z3_solver_check_assumptions(impl_->context, impl_->solver, static_cast<unsigned>(asts.size()), asts.data());
  }
  if (result == Z3_L_TRUE) {
    impl_->found = impl_->solver.get_model();
    return Answer::Yes;
  }
  if (result == Z3_L_FALSE) {
    for (const z3::expr& e : impl_->solver.unsat_core()) {
      const auto it = of_ast.find(Z3_get_ast_id(impl_->context, e));
      if (it != of_ast.end()) impl_->last_core.push_back(it->second);
    }
    return rounded_ ? Answer::Unknown : Answer::No;
  }
  return Answer::Unknown;
}

bool Backend::value(Lit lit) const {
  HEDDLE_ASSERT(impl_->found.has_value(), "value() needs a model");
  if (lit == kTrue || lit == kFalse) return lit == kTrue;
  z3::expr e(impl_->context, impl_->positive[static_cast<std::size_t>(lit > 0 ? lit : -lit)]);
  return impl_->found->eval(e, true).is_true() == (lit > 0);
}

std::int64_t Backend::value(IntVar a, IntVar b) const {
  HEDDLE_ASSERT(impl_->found.has_value(), "value() needs a model");
  if (a == b) return 0;
  const z3::expr left(impl_->context, impl_->ints[static_cast<std::size_t>(a)]);
  const z3::expr right(impl_->context, impl_->ints[static_cast<std::size_t>(b)]);
  return impl_->found->eval(left, true).get_numeral_int64() - impl_->found->eval(right, true).get_numeral_int64();
}

std::vector<Lit> Backend::core() const { return impl_->last_core; }

std::int64_t Backend::conflicts() const {
  const z3::stats stats = impl_->solver.statistics();
  for (unsigned i = 0; i < stats.size(); ++i)
    if (stats.key(i) == "conflicts") return stats.is_uint(i) ? stats.uint_value(i) : static_cast<std::int64_t>(stats.double_value(i));
  return 0;
}

}  // namespace heddle::solver
