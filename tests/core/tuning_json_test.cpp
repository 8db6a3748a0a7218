// Histories of tuning: lines come back, a cut-off last line is no fault, anything else that is wrong is told with its line.
#include <catch2/catch.hpp>

#include "core/io/tuning_json.h"
#include "core/report/tuning_summary.h"

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
  CHECK(evaluation_json(history.sessions[0].space, history.evaluations[0]).line() == evaluation_json(session_of_two().space, evaluation_of(1, 0, 2000)).line());
  CHECK(read->whole_bytes == history_text().size());
  const auto ended = parse_tuning(history_text() + end_json({"budget", 2, 1500.5, 2, true, 1.5}).line() + "\n", "h.jsonl");
  REQUIRE(ended->history.end);
  CHECK(ended->history.end->proved);
  CHECK(tuning_headline(ended->history, {}).find("proved best of the space") != std::string::npos);
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
  CHECK(first_fault(text + text.substr(text.find('\n') + 1).replace(text.substr(text.find('\n') + 1).find("128"), 3, "129")).find("129 is not among") != std::string::npos);
  TuneSession other = session_of_two();
  other.subject = "ffff";
  CHECK(first_fault(text + session_json(other).line() + "\n").find("something else") != std::string::npos);
  CHECK(first_fault(text.substr(text.find('\n') + 1)).find("before the first \"run\"") != std::string::npos);
}
