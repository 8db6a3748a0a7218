// Histories of tuning: lines come back, a cut-off last line is no fault, anything else that is wrong is told with its line.
#include <catch2/catch.hpp>

#include "core/answers/tuning_summary.h"
#include "core/formats/tuning_json.h"

using namespace heddle;

namespace {

TuneSession session_of_two() {
  TuneSession session;
  session.kernel = "gemm_hopper";
  session.machine = "h100";
  session.subject = "0123456789abcdef";
  Parameter p;
  p.name = "TILE_N";
  p.values = {128, 256};
  session.space.parameters = {p};
  session.configurations = 2;
  return session;
}

TuneEvaluation evaluation_of(std::int64_t number, double index, double value) {
  TuneEvaluation e;
  e.number = number;
  e.by = "model";
  e.config = {index};
  e.label = config_text(session_of_two().space, e.config);
  e.fidelity = Fidelity::Solver;
  e.status = TuneStatus::Optimal;
  e.value = value;
  e.bound = value / 2;
  e.ii = 1024;
  e.best = value;
  e.best_number = number;
  e.excluded = 0;
  e.params = {{"TILE_N", 128}};
  e.demands = {"at most 2 stages"};
  return e;
}

std::string history_text() {
  const TuneSession session = session_of_two();
  return session_json(session).line() + "\n" + evaluation_json(session.space, evaluation_of(1, 0, 2000)).line() + "\n" +
         evaluation_json(session.space, evaluation_of(2, 1, 1500.5)).line() + "\n";
}

}  // namespace

TEST_CASE("a history comes back line by line", "[core]") {
  std::vector<Fault> warnings;
  const auto read = parse_tuning(history_text(), "h.jsonl", &warnings);
  REQUIRE(read.ok());
  CHECK(warnings.empty());
  const TuneHistory& history = read->history;
  REQUIRE(history.evaluations.size() == 2);
  CHECK_FALSE(history.end);
  CHECK(history.best() == &history.evaluations[1]);
  CHECK(history.evaluations[1].label == "TILE_N=256");
  CHECK(evaluation_json(history.sessions[0].space, history.evaluations[0]).line() ==
        evaluation_json(session_of_two().space, evaluation_of(1, 0, 2000)).line());
  CHECK(read->whole_bytes == history_text().size());
  const auto ended = parse_tuning(history_text() + end_json({"budget", 2, 1500.5, 2, true, 1.5}).line() + "\n", "h.jsonl");
  REQUIRE(ended->history.end);
  CHECK(ended->history.end->proved);
  CHECK(tuning_headline(ended->history, {}).find("the file says: proved best of the space") != std::string::npos);
  // What this process found out itself, it says itself; a proof that rests on a file is none.
  TuneHistory own = ended->history;
  own.end->rests_on_file = false;
  CHECK(tuning_headline(own, {}).find("the file says") == std::string::npos);
  CHECK(end_json(*own.end).line().find("\"proved\": true") != std::string::npos);
  const std::string told = end_json(*ended->history.end).line();
  CHECK(told.find("\"proved\": false") != std::string::npos);
  CHECK(told.find("\"file_says_proved\": true") != std::string::npos);
  CHECK(parse_tuning(history_text() + told + "\n", "h.jsonl")->history.end->proved);
  CHECK(tuning_json(ended->history).line().find("\"from_file\": true") != std::string::npos);
}

TEST_CASE("a line that contradicts itself, its session or its neighbours is set aside, aloud", "[core]") {
  TuneSession session = session_of_two();
  session.lower_bound = 900;
  const auto told = [&](const std::vector<TuneEvaluation>& evaluations, TuneHistory* history = nullptr) {
    std::string text = session_json(session).line() + "\n";
    for (const TuneEvaluation& e : evaluations) text += evaluation_json(session.space, e).line() + "\n";
    std::vector<Fault> warnings;
    const auto read = parse_tuning(text, "h.jsonl", &warnings);
    REQUIRE(read.ok());
    if (history) *history = read->history;
    std::vector<std::string> lines;
    for (const Fault& w : warnings) lines.push_back(to_string(w));
    return lines;
  };
  using Lines = std::vector<std::string>;
  const auto changed = [](auto change) {
    TuneEvaluation e = evaluation_of(2, 1, 1500);
    change(e);
    return e;
  };
  const TuneEvaluation good = evaluation_of(1, 0, 2000);
  CHECK(told({good, evaluation_of(2, 1, 1500)}).empty());
  TuneHistory history;
  CHECK(told({good, changed([](auto& e) { e.bound = 1600; })}, &history) ==
        Lines{"h.jsonl: line 3: evaluation 2 is set aside: its value 1500 is below its own bound of 1600"});
  REQUIRE(history.evaluations.size() == 1);
  CHECK(history.evaluations[0].best == 2000);
  CHECK(told({good, changed([](auto& e) { e.value = 850, e.bound = 800; })}) ==
        Lines{"h.jsonl: line 3: evaluation 2 is set aside: its value 850 is below the bound of all configurations, 900"});
  CHECK(told({changed([](auto& e) { e.lower_bound_ii = 2000; })}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: its II 1024 is below its own lower_bound_ii of 2000"});
  CHECK(told({changed([](auto& e) { e.min_ii = 2000; })}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: its II 1024 is below its own min_ii of 2000"});
  CHECK(told({changed([](auto& e) { e.lower_bound_ii = 1000; })}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: it is optimal, and its II 1024 is above its own lower_bound_ii of 1000"});
  CHECK(told({changed([](auto& e) { e.status = TuneStatus::Infeasible; })}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: it is infeasible, and has a value"});
  // Neighbours: one configuration, then one question.
  CHECK(told({good, changed([](auto& e) { e.config = {0}; })}) ==
        Lines{"h.jsonl: line 2: evaluation 1 is set aside: its configuration takes 2000, and 1500 in line 3, both optimal",
              "h.jsonl: line 3: evaluation 2 is set aside: its configuration takes 1500, and 2000 in line 2, both optimal"});
  CHECK(told({good, changed([](auto& e) { e.config = {0}, e.status = TuneStatus::Infeasible, e.value.reset(), e.ii.reset(); })}) ==
        Lines{"h.jsonl: line 3: evaluation 2 is set aside: it is infeasible, and has a value in line 2"});
  CHECK(told({changed([](auto& e) { e.ii = e.lower_bound_ii = 3072; }), good}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: its II 3072 is optimal; line 3 says the same of 1024",
              "h.jsonl: line 3: evaluation 1 is set aside: its II 1024 is optimal; line 2 says the same of 3072"});
  TuneEvaluation found = good;
  found.status = TuneStatus::Feasible;
  CHECK(told({changed([](auto& e) { e.ii = e.lower_bound_ii = 3072; }), found}) ==
        Lines{"h.jsonl: line 2: evaluation 2 is set aside: its II is at least 3072, it says; line 3 has a schedule of 1024"});
  // Other demands make another question.
  CHECK(told({changed([](auto& e) { e.ii = e.lower_bound_ii = 3072, e.demands = {"at most 1 stage"}; }), good}).empty());
}

TEST_CASE("an end that does not follow from its evaluations is no proof", "[core]") {
  std::vector<Fault> warnings;
  const auto read = parse_tuning(history_text() + end_json({"complete", 2, 1400.0, 2, true, 1.5}).line() + "\n", "h.jsonl", &warnings);
  REQUIRE(read->history.end);
  CHECK_FALSE(read->history.end->proved);
  CHECK(read->history.end->best == 1500.5);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message.find("does not follow") != std::string::npos);
}

TEST_CASE("a line that was cut off is left out and its place is known", "[core]") {
  const std::string text = history_text();
  for (std::size_t cut = text.find('\n') + 1; cut < text.size(); cut += 7) {
    const auto read = parse_tuning(text.substr(0, cut), "h.jsonl");
    REQUIRE(read.ok());
    CHECK(read->whole_bytes <= cut);
    CHECK((read->whole_bytes == 0 || text[read->whole_bytes - 1] == '\n'));
  }
  CHECK_FALSE(parse_tuning(text.substr(0, 10), "h.jsonl").ok());
  CHECK_FALSE(parse_tuning("", "h.jsonl").ok());
}

TEST_CASE("faults of a history name file and line", "[core]") {
  const std::string text = history_text();
  const auto first_fault = [](const std::string& history) {
    const auto read = parse_tuning(history, "h.jsonl");
    return read.ok() ? std::string() : to_string(read.error().faults.front());
  };
  CHECK(first_fault(text + "{]\n").find("line 4") != std::string::npos);
  CHECK(first_fault(text + "{\"line\": \"party\"}\n").find("line 4: expected \"run\"") != std::string::npos);
  CHECK(first_fault(text + text.substr(text.find('\n') + 1).replace(text.substr(text.find('\n') + 1).find("128"), 3, "129"))
            .find("129 is not among") != std::string::npos);
  TuneSession other = session_of_two();
  other.subject = "ffff";
  CHECK(first_fault(text + session_json(other).line() + "\n").find("something else") != std::string::npos);
  CHECK(first_fault(text.substr(text.find('\n') + 1)).find("before the first \"run\"") != std::string::npos);
}
