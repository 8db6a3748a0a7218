// The search itself: it finds optima, excludes with proof, learns failures, repeats itself, and goes on where it was stopped.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "solver/tune/pool.h"
#include "solver/tune/tune.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

/// A bowl over two integers and a word; b pays half, and a corner fails.
struct Bowl {
  SearchSpace space;
  ChainOfTrees tree;
  int evaluated = 0;

  explicit Bowl(std::vector<const char*> constraints = {}) : space(make(constraints)), tree(*ChainOfTrees::build(space)) {}

  static SearchSpace make(const std::vector<const char*>& constraints) {
    SearchSpace space;
    for (const char* name : {"x", "y"}) {
      Parameter p;
      p.name = name;
      p.kind = ParameterKind::Integer;
      p.low = 0;
      p.high = 19;
      space.parameters.push_back(p);
    }
    Parameter word;
    word.name = "w";
    word.kind = ParameterKind::Categorical;
    word.words = {"a", "b"};
    space.parameters.push_back(word);
    for (const char* text : constraints) space.constraints.push_back(*Expr::parse(text));
    return space;
  }

  static double value(const Config& c) { return 100 + (c[0] - 13) * (c[0] - 13) + 2 * (c[1] - 4) * (c[1] - 4) + (c[2] == 0 ? 20 : 0); }
  static bool fails(const Config& c) { return c[0] > 14 && c[1] > 10; }

  TuneRequest request(TuneMethod method, std::uint64_t seed, std::int64_t budget) {
    TuneRequest r;
    r.space = &tree;
    r.method = method;
    r.seed = seed;
    r.budget = budget;
    r.evaluate = [this](const Config& config, std::optional<double>, const std::stop_token&) {
      ++evaluated;
      TuneEvaluation e;
      e.status = fails(config) ? TuneStatus::Refused : TuneStatus::Optimal;
      if (!fails(config)) e.value = value(config);
      return e;
    };
    return r;
  }
};

std::string path_of(const TuneRequest& request, std::vector<TuneEvaluation>* all = nullptr) {
  std::string path;
  tune(request, {}, [&](const TuneEvaluation& e) {
    path += e.label + ";";
    if (all) all->push_back(e);
  });
  return path;
}

}  // namespace

TEST_CASE("every method finds the optimum of a bowl, the model soonest", "[solver]") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Bowl bowl;
    const TuneEnd end = tune(bowl.request(TuneMethod::Baco, seed, 35));
    CHECK(end.best == 100.0);
    CHECK(end.evaluations == 35);
    CHECK_FALSE(end.proved);
  }
  Bowl bowl;
  const TuneEnd all = tune(bowl.request(TuneMethod::Exhaustive, 0, 10'000));
  CHECK(all.reason == "complete");
  CHECK(all.proved);
  CHECK(all.best == 100.0);
  CHECK(bowl.evaluated == 800);
  Bowl bandit;
  CHECK(tune(bandit.request(TuneMethod::Bandit, 1, 200)).best == 100.0);
  Bowl random;
  CHECK(tune(random.request(TuneMethod::Random, 1, 800)).best == 100.0);
}

TEST_CASE("no configuration is evaluated twice, and none that is known to be impossible", "[solver]") {
  for (const TuneMethod method : {TuneMethod::Baco, TuneMethod::Random, TuneMethod::Bandit}) {
    Bowl bowl({"x + y <= 20"});
    TuneRequest request = bowl.request(method, 4, 40);
    request.known = [](const Config& c) { return TuneFacts{c[0] != 7, {}, {}}; };
    std::set<Config> seen;
    tune(request, {}, [&](const TuneEvaluation& e) {
      CHECK(seen.insert(e.config).second);
      CHECK(e.config[0] + e.config[1] <= 20);
      CHECK(e.config[0] != 7);
    });
    CHECK(seen.size() == 40);
  }
}

TEST_CASE("bounds exclude with proof and are counted", "[solver]") {
  Bowl bowl;
  TuneRequest request = bowl.request(TuneMethod::Baco, 2, 800);
  request.known = [](const Config& c) { return TuneFacts{true, Bowl::value(c) * 0.9, {}}; };
  std::vector<TuneEvaluation> all;
  std::optional<TuneStart> start;
  const TuneEnd end = tune(
      request, {}, [&](const TuneEvaluation& e) { all.push_back(e); }, [&](const TuneStart& s) { start = s; });
  CHECK(end.reason == "complete");
  CHECK(end.proved);
  CHECK(end.best == 100.0);
  CHECK(bowl.evaluated < 100);  // what is left are those within 10 % of the optimum
  REQUIRE(start);
  CHECK(start->known_feasible == 800);
  CHECK(start->lower_bound == Approx(90));
  CHECK(*all.back().excluded + *all.back().open + static_cast<std::int64_t>(all.size()) == 800);
  // Nothing that could win was excluded: the exhaustive answer is the same.
  request.prune = false;
  request.method = TuneMethod::Exhaustive;
  CHECK(tune(request).best == end.best);
}

TEST_CASE("the optimum at the edge of what fails is found", "[solver]") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Bowl bowl;
    TuneRequest request = bowl.request(TuneMethod::Baco, seed, 30);
    request.evaluate = [](const Config& c, std::optional<double>, const std::stop_token&) {
      TuneEvaluation e;
      e.status = c[0] >= 10 ? TuneStatus::Refused : TuneStatus::Optimal;  // half of the space, the unconstrained optimum within
      if (c[0] < 10) e.value = Bowl::value(c);
      return e;
    };
    CHECK(*tune(request).best <= 118);  // 116 at x = 9, y = 4, w = b
  }
}

TEST_CASE("the same seed makes the same search, and one that is interrupted goes on as if it had not been", "[solver]") {
  for (const TuneMethod method : {TuneMethod::Baco, TuneMethod::Random, TuneMethod::Bandit, TuneMethod::Exhaustive}) {
    Bowl bowl;
    std::vector<TuneEvaluation> all;
    const std::string whole = path_of(bowl.request(method, 9, 24), &all);
    CHECK(whole == path_of(bowl.request(method, 9, 24)));
    TuneRequest rest = bowl.request(method, 9, 14);
    rest.done.assign(all.begin(), all.begin() + 10);
    std::vector<TuneEvaluation> later;
    path_of(rest, &later);
    REQUIRE(later.size() == 14);
    for (std::size_t i = 0; i < later.size(); ++i) {
      CHECK(later[i].label == all[10 + i].label);
      CHECK(later[i].number == all[10 + i].number);
      CHECK(later[i].best == all[10 + i].best);
    }
  }
}

TEST_CASE("what one evaluation answers for others is not asked again", "[solver]") {
  Bowl bowl;
  TuneRequest request = bowl.request(TuneMethod::Exhaustive, 0, 10'000);
  request.same = [](const TuneEvaluation& e) {
    Config other = e.config;
    other[2] = 1 - other[2];
    return std::vector<Config>{other};
  };
  std::optional<std::int64_t> excluded;
  const TuneEnd end = tune(request, {}, [&](const TuneEvaluation& e) { excluded = e.excluded; });
  CHECK(end.evaluations == 400);
  CHECK(excluded == 400);
  CHECK(end.proved);
}

TEST_CASE("a stop ends the search with what there is", "[solver]") {
  Bowl bowl;
  std::stop_source stop;
  const TuneEnd end = tune(bowl.request(TuneMethod::Baco, 0, 100), stop.get_token(), [&](const TuneEvaluation& e) {
    if (e.number == 7) stop.request_stop();
  });
  CHECK(end.reason == "cancelled");
  CHECK(end.evaluations == 7);
  CHECK(end.best.has_value());
  TuneRequest none = bowl.request(TuneMethod::Baco, 0, 100);
  none.known = [](const Config&) { return TuneFacts{false, {}, {}}; };
  CHECK(tune(none).reason == "nothing feasible");
}

TEST_CASE("spaces too large to list, with reals and orders, are searched by climbing", "[solver]") {
  SearchSpace space;
  Parameter real, order;
  real.name = "r";
  real.kind = ParameterKind::Real;
  real.least = 0;
  real.most = 1;
  real.standard = 0.9;
  order.name = "o";
  order.kind = ParameterKind::Permutation;
  order.words = {"i", "j", "k", "l"};
  space.parameters = {real, order};
  for (int i = 0; i < 3; ++i) {
    Parameter p;
    p.name = std::string(1, static_cast<char>('x' + i));
    p.kind = ParameterKind::Integer;
    p.high = 99;
    space.parameters.push_back(p);
  }
  const auto tree = ChainOfTrees::build(space);
  TuneRequest request;
  request.space = &*tree;
  request.budget = 20;
  request.seed = 5;
  request.evaluate = [&](const Config& c, std::optional<double>, const std::stop_token&) {
    TuneEvaluation e;
    e.status = TuneStatus::Optimal;
    e.value = 1 + std::pow(c[0] - 0.3, 2) + 0.1 * static_cast<double>(arrangement(static_cast<std::int64_t>(c[1]), 4)[0]) +
              std::pow((c[2] - 50) / 100, 2) + std::pow((c[3] - 20) / 100, 2);
    return e;
  };
  const TuneEnd end = tune(request);
  CHECK(end.evaluations == 20);
  CHECK(*end.best < 1.05);
}

TEST_CASE("neighbours are one step away and allowed", "[solver]") {
  Bowl bowl({"x % 4 == 0", "x + y < 20"});
  TuneRequest request = bowl.request(TuneMethod::Baco, 0, 1);
  TunePool pool(request, {});
  TuneRandom random(1);
  std::set<Config> found;
  for (const Config& c : pool.neighbours({8, 11, 0}, random)) found.insert(c);
  CHECK(found == std::set<Config>{{4, 11, 0}, {8, 10, 0}, {8, 11, 1}});  // 12 + 11 and 8 + 12 are too much
}
