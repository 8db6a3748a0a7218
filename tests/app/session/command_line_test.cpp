// "Copy as command": the printed line, read by the real command line, is the state of the window.
#include "app/session/command_line.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "app/cli/inputs.h"
#include "app/command/arguments.h"
#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "core/schedule/constraint_text.h"
#include "tests/app/cli_support.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// What a shell makes of a line without variables.
std::vector<std::string> shell_split(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false, open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') {
      inside = !inside;
      if (!open) words.emplace_back();
      open = true;
    } else if (c == ' ' && !inside) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      if (c == '\\' && !inside && i + 1 < line.size()) ++i;
      words.back() += line[i];
    }
  }
  return words;
}

app::CommandInputs read_line(const std::string& line) {
  INFO(line);
  std::vector<std::string> words = shell_split(line);
  REQUIRE(words.size() >= 2);
  REQUIRE(words.front() == "heddle");
  words.erase(words.begin());
  const auto parsed = parse_command_line(words);
  if (const auto* usage = std::get_if<UsageError>(&parsed)) FAIL(usage->message);
  std::ostringstream text;
  PrintableStream out(text), err(text);
  Terminal terminal{out, err, {}};
  auto inputs = load_inputs(std::get<CommandLine>(parsed).arguments, terminal);
  if (!inputs) FAIL(to_string(inputs.error()));
  return *std::move(inputs);
}

std::vector<std::string> sentences(const Constraints& constraints) {
  std::vector<std::string> list;
  for (const UserConstraint& c : constraints)
    if (c.enabled) list.push_back(describe(c));
  return list;
}

Environment fake() {
  Environment environment;
  environment.solve = test::solve_toy;
  return environment;
}

UserConstraint demand(const Session& session, const std::string& text) {
  const auto read = parse_constraint(text, *session.content().problem);
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("the line of a session resolves to the session's problem and demands", "[app]") {
  Session session(fake());
  session.apply(OpenPair{"attention_forward_hopper", "h100", false});
  REQUIRE(session.content().problem);
  session.apply(SetParam{"KV", 176});
  REQUIRE(session.content().overrides.size() == 1);
  Change slower;
  slower.kind = ChangeKind::Latency;
  slower.op = session.content().problem->ops[2].name;
  slower.value = 600;
  session.apply(SetChange{slower});
  REQUIRE(session.content().changes.size() == 1);
  const std::string op = session.content().problem->ops[0].name, other = session.content().problem->ops[1].name;
  for (const std::string& text :
       {"pin " + op + " at 128", op + " before " + other + " by 3", std::string("at most 3 stages"), std::string("registers <= 240")})
    session.apply(AddConstraint{demand(session, text), false});
  session.apply(AddConstraint{demand(session, other + " in group 1"), false});
  session.apply(ToggleConstraint{4});
  for (const char* subcommand : {"solve", "explain", "slack", "export"}) {
    const app::CommandInputs inputs = read_line(command_line(session, subcommand));
    CHECK(problem_hash(inputs.problem()) == problem_hash(*session.content().problem));
    CHECK(sentences(inputs.constraints) == sentences(session.content().constraints));
    CHECK(inputs.constraints.size() == 4);
  }
  // Bounds know no demands, and say so by not taking them.
  const std::string bounds = command_line(session, "analyze");
  CHECK(bounds.find("--demand") == std::string::npos);
  CHECK(problem_hash(read_line(bounds).problem()) == problem_hash(*session.content().problem));
}

TEST_CASE("files keep their paths, and a schedule from a file is named", "[app]") {
  const test::ScratchFolder folder;
  const std::string kernel = folder.write("it's a kernel.json", test::read_text(test::repository_path("kernels/toy_fig1.json"))),
                    schedule = folder.write("s.json", test::toy_schedule());
  Session session(fake());
  session.apply(OpenPair{kernel, "toy", false});
  REQUIRE(session.content().problem);
  session.apply(OpenSchedule{schedule});
  REQUIRE(session.content().entry());
  const std::string line = command_line(session, "show", {"--mode", "pipeline"});
  const app::CommandInputs inputs = read_line(line);
  CHECK(inputs.kernel().source == kernel);
  REQUIRE(inputs.schedule);
  CHECK(same_program(*inputs.schedule, session.content().entry()->schedule));
  // A command without a place for a schedule gets none.
  CHECK(command_line(session, "solve").find("s.json") == std::string::npos);
  CHECK(command_line(session, "solve").find("'\\''") != std::string::npos);
}

TEST_CASE("without kernel or machine there is no line", "[app]") {
  Session session(fake());
  CHECK(command_line(session, "solve").empty());
  session.apply(OpenKernel{"toy_fig1"});
  CHECK(command_line(session, "solve").empty());
}
