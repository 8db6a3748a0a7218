// heddle serve: requests and answers by line, errors that end nothing, cancelling.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/batch/serve.h"
#include "app/command/exit_code.h"
#include "app/jobs/child_process.h"
#include "app/jobs/heddle_child.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

/// What the server says to these lines.
std::vector<json> served(const std::string& lines, std::vector<std::string> options = {}) {
  const ScratchFolder folder;
  const std::string path = folder.path("requests.jsonl");
  std::ofstream(path) << lines;
  std::vector<std::string> words{heddle_beside(), "serve", "--no-store"};
  words.insert(words.end(), options.begin(), options.end());
  const auto child = run_child(std::move(words), {}, {}, {}, {path, {}});
  REQUIRE(child);
  CHECK(child->code == kDone);
  std::vector<json> replies;
  std::istringstream stream(child->out);
  for (std::string line; std::getline(stream, line);) replies.push_back(json::parse(line));
  return replies;
}

std::map<json, json> last_lines(const std::vector<json>& replies) {
  std::map<json, json> by_id;
  for (const json& reply : replies) by_id[reply["id"]] = reply;
  return by_id;
}

}  // namespace

TEST_CASE("ten questions of all kinds are answered by their ids, as the command line answers them", "[cli]") {
  std::string lines;
  const std::vector<std::string> asks{"solve",        "slack",  "explain",     "analyze",  "price",
                                      "alternatives", "pareto", "sensitivity", "simulate", "check"};
  for (const std::string& ask : asks) {
    json request{{"id", ask}, {"ask", ask}, {"kernel", "toy_fig1"}, {"machine", "toy"}};
    if (ask == "price") request["options"] = {{"max-stages", 1}};
    if (ask == "check") request["schedule"] = "toy_fig1/nothing_of_this_name";
    lines += request.dump() + "\n";
  }
  const auto answers = last_lines(served(lines));
  REQUIRE(answers.size() == asks.size());
  CHECK(answers.at("solve")["status"] == "proved");
  for (const std::string& ask : asks) {
    INFO(ask << ": " << answers.at(ask).dump());
    CHECK(answers.at(ask)["event"] == "answer");
    if (ask == "check") continue;
    CHECK(answers.at(ask)["exit"] == kDone);
    CHECK(answers.at(ask)["result"].is_object());
  }
  CHECK(answers.at("check")["status"] == "failed");
  const json alone = json::parse(run_heddle({"solve", "toy_fig1", "toy", "--json"}).out);
  CHECK(answers.at("solve")["result"]["ii"] == alone["ii"]);
}

TEST_CASE("what is no request gets an error that says why, and the next one is answered", "[cli]") {
  const std::vector<json> replies = served(
      "{\n[1]\n{\"ask\": \"solve\"}\n"
      R"({"id": 1, "ask": "slove", "kernel": "toy_fig1", "machine": "toy"})"
      "\n"
      R"({"id": 2, "ask": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"max-stage": 1}})"
      "\n"
      R"({"id": 3, "ask": "solve", "kernel": "no_such_kernel", "machine": "toy"})"
      "\n"
      R"({"id": [4], "ask": "solve"})"
      "\n" +
      std::string(kLongestRequest + 10, 'x') + "\n" + R"({"id": 5, "ask": "solve", "kernel": "toy_fig1", "machine": "toy"})");
  const auto by_id = last_lines(replies);
  CHECK(by_id.at(1)["event"] == "error");
  CHECK(by_id.at(1)["faults"][0]["pointer"] == "/ask");
  CHECK(by_id.at(1)["faults"][0]["hint"].get<std::string>().find("solve") != std::string::npos);
  CHECK(by_id.at(2)["faults"][0]["pointer"] == "/options/max-stage");
  CHECK(by_id.at(3)["event"] == "answer");
  CHECK(by_id.at(3)["status"] == "failed");
  CHECK(by_id.at(3)["exit"] == kInvalidInput);
  CHECK(by_id.at(5)["status"] == "proved");
  std::size_t unread = 0;
  for (const json& reply : replies) unread += reply["id"].is_null() ? 1 : 0;
  CHECK(unread == 5);  // two that are no objects, two without an id, one that is too long
}

TEST_CASE("a request is cancelled by its id, whether it runs or waits", "[cli]") {
  const std::string hard = R"("ask": "latency", "kernel": "attention_backward_hopper", "machine": "h100", "op": "S0"})";
  const auto by_id = last_lines(served("{\"id\": \"runs\", " + hard + "\n{\"id\": \"waits\", " + hard +
                                           "\n{\"cancel\": \"waits\"}\n{\"cancel\": \"runs\"}\n{\"cancel\": \"nobody\"}\n" +
                                           R"({"id": "after", "ask": "analyze", "kernel": "toy_fig1", "machine": "toy"})",
                                       {"--jobs", "1"}));
  CHECK(by_id.at("runs")["status"] == "cancelled");
  CHECK(by_id.at("waits")["status"] == "cancelled");
  CHECK(by_id.at("after")["status"] == "done");
}

TEST_CASE("what is being done is said where it is wanted, before the answer", "[cli]") {
  const std::vector<json> replies = served(R"({"id": 7, "ask": "solve", "kernel": "toy_fig1", "machine": "toy", "progress": true})");
  REQUIRE(replies.size() > 1);
  for (std::size_t i = 0; i + 1 < replies.size(); ++i) CHECK(replies[i]["event"] == "progress");
  CHECK(replies.back()["event"] == "answer");
}

TEST_CASE("two open requests have two ids", "[cli]") {
  const std::string line = R"({"id": 1, "ask": "solve", "kernel": "toy_fig1", "machine": "toy"})";
  const std::vector<json> replies = served(line + "\n" + line + "\n", {"--jobs", "1"});
  std::size_t errors = 0;
  for (const json& reply : replies) errors += reply["event"] == "error" ? 1 : 0;
  CHECK(errors <= 1);  // none where the first was done already
  CHECK(replies.size() == 2);
}
