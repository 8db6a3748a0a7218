// heddle check and show of PTX on the command line: launches from files, by hand, folders; what is refused, in words; exit codes.
#include <catch2/catch.hpp>

#include <filesystem>
#include <random>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::run_heddle;

namespace {

const std::string kText = test::repository_path("tests/ptx/texts/one_slot.ptx");
const std::string kLaunch = test::repository_path("tests/ptx/texts/one_slot.json");

std::string edited(const std::string& from, const std::string& to, const std::string& path = kText) {
  std::string text = test::read_text(path);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a launch in order is said so, from its file, beside its text and by hand", "[app]") {
  const auto whole = run_heddle({"check", kLaunch});
  INFO(whole.out << whole.err);
  CHECK(whole.code == kDone);
  CHECK(contains(whole.out, "in order\n"));
  CHECK(contains(whole.out, "one_slot of sm_90a, grid 2 x 1 x 1"));
  CHECK(run_heddle({"check", kText, "--launch", kLaunch, "--quiet"}).out == "in order\n");
  CHECK(contains(run_heddle({"check", kText}).out, "launched as"));

  const test::ScratchFolder folder;
  const std::string alone = folder.write("k.ptx", test::read_text(kText));
  const auto hand = run_heddle({"check", alone, "--grid", "2", "--map", "0=A 64x64 bf16 swizzle128 of 512x64", "--param", "128=u32:512"});
  INFO(hand.out << hand.err);
  CHECK(hand.code == kDone);
  const auto by_name = run_heddle({"check", alone, "--map", "param_0=A 64x64 bf16 swizzle128", "-p", "param_1=512", "-q"});
  CHECK(by_name.code == kDone);
  CHECK(by_name.out == "in order\n");
}

TEST_CASE("a launch that hangs is not in order: exit code 4, with the lines", "[app]") {
  const test::ScratchFolder folder;
  const std::string broken = folder.write("k.ptx", edited("_, [%r4], 8192", "_, [%r4], 16384"));
  const auto run = run_heddle({"check", broken, "--launch", kLaunch});
  INFO(run.out << run.err);
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "not in order: "));
  CHECK(contains(run.out, "wrong: "));
  CHECK(contains(run.out, "line 43"));
  const auto json = run_heddle({"check", broken, "--launch", kLaunch, "--json"});
  CHECK(json.code == kNegative);
  const auto answer = parse_json(json.out, "out");
  REQUIRE(answer.ok());
  const Json& launch = answer->find("launches")->items()->front();
  CHECK(*launch.find("verdict")->string() == "not_in_order");
  CHECK_FALSE(launch.find("findings")->items()->empty());
}

TEST_CASE("a run that is cut off is stopped: exit code 5", "[app]") {
  const auto limit = run_heddle({"check", kLaunch, "--limit", "20"});
  CHECK(limit.code == kNoProof);
  CHECK(contains(limit.out, "stopped"));
}

TEST_CASE("what is not said of a launch is asked for at once, by option", "[app]") {
  const test::ScratchFolder folder;
  const std::string alone = folder.write("k.ptx", test::read_text(kText));
  const auto none = run_heddle({"check", alone});
  INFO(none.err);
  CHECK(none.code == kInvalidInput);
  CHECK(contains(none.err, "not given: one_slot_param_0, 128 bytes at 0, a tensor map"));
  CHECK(contains(none.err, "--map 0=\"A 64x128 bf16 swizzle128\""));
  CHECK(contains(none.err, "not given: one_slot_param_1, b32 at 128"));
  CHECK(contains(none.err, "--param 128=b32:1"));
  const auto wrong = run_heddle({"check", alone, "--grid", "0", "--map", "0=A 64y64 bf16", "--param", "128=u32:x", "--json"});
  CHECK(wrong.code == kInvalidInput);
  CHECK(contains(wrong.err, "--map: A: expected the box"));
  CHECK(contains(wrong.err, "--param: '128=u32:x'"));
  CHECK(contains(wrong.out, "\"error\""));
}

TEST_CASE("files that are no PTX or no launch are refused by name: exit code 3", "[app]") {
  const test::ScratchFolder folder;
  CHECK(run_heddle({"check", folder.path("none.ptx")}).code == kInvalidInput);
  CHECK(run_heddle({"check", folder.write("cut.ptx", test::read_text(kText).substr(0, 900)), "--launch", kLaunch}).code == kInvalidInput);
  CHECK(run_heddle({"check", kText, "--launch", folder.path("none.json")}).code == kInvalidInput);
  const auto lonely = run_heddle({"check", folder.write("0.json", edited("\"ptx\": \"one_slot.ptx\",", "", kLaunch))});
  CHECK(lonely.code == kInvalidInput);
  CHECK(contains(lonely.err, "names no PTX"));
  const auto kernel = run_heddle({"check", kText, "--kernel", "two_slots"});
  CHECK(kernel.code == kInvalidInput);
  CHECK(contains(kernel.err, "it has one_slot"));
  const auto bad = run_heddle({"check", kText, "--branch", "12", "--branch", "x=taken", "--size", "K", "--size", "Q=3"});
  CHECK(bad.code == kInvalidInput);
  CHECK(contains(bad.err, "--branch: expected LINE=taken"));
  CHECK(contains(bad.err, "--size: expected NAME=SIZE, found 'K'"));
  CHECK(run_heddle({"check", kText, "--sizes", "many"}).code == kUsage);
  CHECK(run_heddle({"check", kText, "--machine", "no_such_machine"}).code == kInvalidInput);
}

TEST_CASE("a folder of launches has a line each, and one that cannot be read stands among them", "[app]") {
  const test::ScratchFolder folder;
  folder.write("one_slot.ptx", test::read_text(kText));
  folder.write("2.json", test::read_text(kLaunch));
  folder.write("10.json", edited("\"grid\": [2, 1, 1]", "\"grid\": [0, 1, 1]", kLaunch));
  folder.write("other.json", "{}");
  const auto run = run_heddle({"check", folder.path("")});
  INFO(run.out << run.err);
  CHECK(run.code == kInvalidInput);
  CHECK(run.out.find("2.json") < run.out.find("10.json"));
  CHECK(contains(run.out, "cannot be read"));
  CHECK_FALSE(contains(run.out, "other.json"));
}

TEST_CASE("other sizes are run as they are said, or proposed", "[app]") {
  const auto one = run_heddle({"check", kLaunch, "--size", "K=192"});
  INFO(one.out << one.err);
  CHECK(one.code == kDone);
  CHECK(contains(one.out, "K: 512 at A.0, K becomes 192"));
  const auto some = run_heddle({"check", kLaunch, "--sizes", "auto"});
  INFO(some.out << some.err);
  CHECK(some.code == kDone);
  CHECK(contains(some.out, "one trip"));
  CHECK(contains(run_heddle({"check", kLaunch, "--size", "Q=192"}).err, "--size: nothing is called 'Q'"));
}

TEST_CASE("show has roles, rings and a trip of each role", "[app]") {
  const auto run = run_heddle({"show", kText, "--launch", kLaunch});
  INFO(run.out << run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "ring A: 1 slot of 8192 bytes"));
  CHECK(contains(run.out, "8 trips"));
  CHECK(run_heddle({"show", kText, "--launch", kLaunch}).out == run.out);
}

TEST_CASE("show answers programs, too", "[app]") {
  const auto run = run_heddle({"show", kLaunch, "--json"});
  INFO(run.out << run.err);
  CHECK(run.code == kDone);
  const auto answer = parse_json(run.out, "out");
  REQUIRE(answer.ok());
  CHECK(*answer->find("schema")->string() == "heddle.ptx_show/1");
  const Json& launch = answer->find("launches")->items()->front();
  const Json& role = launch.find("roles")->items()->front();
  CHECK(*role.find("trips")->integer() == 8);
  CHECK_FALSE(role.find("trip")->items()->empty());
  const Json& ring = launch.find("rings")->items()->front();
  CHECK(*ring.find("name")->string() == "A");
  CHECK(ring.find("slots")->items()->size() == 1);
  CHECK(contains(run_heddle({"schema", "ptx_show"}).out, "heddle:ptx_show:1"));
}

TEST_CASE("what names nothing, and what is not read, is said in a sentence", "[app]") {
  const auto nothing = run_heddle({"check", "no_such_thing"});
  CHECK(nothing.code == kUsage);
  CHECK(contains(nothing.err, "'no_such_thing' is no shipped kernel, and no file or folder is called so"));
  const test::ScratchFolder folder;
  const auto branch = run_heddle({"check", kText, "--branch", "45=taken"});
  CHECK(contains(branch.out + branch.err, "--branch: no branch stands at line 45"));
  CHECK(contains(branch.out + branch.err, "predicate stands at line 44)"));
  CHECK(branch.code == kInvalidInput);
  folder.write("one_slot.ptx", test::read_text(kText));
  const auto member = run_heddle({"check", folder.write("0.json", edited("\"block\"", "\"blocks\": [1],\n  \"block\"", kLaunch))});
  CHECK(member.code == kDone);
  CHECK(contains(member.out, "/blocks: "));
  const auto target = run_heddle({"check", folder.write("t.ptx", edited("sm_90a", "hopper")), "--launch", kLaunch});
  CHECK(target.code == kInvalidInput);
  CHECK(contains(target.out + target.err, "line 3: 'hopper' is no target"));
  const auto value = run_heddle({"check", folder.write("1.json", edited("\"K\": 512", "\"K\": 512, \"param_1\": 128", kLaunch)), "-q"});
  CHECK(value.out == "in order\n");
}

TEST_CASE("a kernel of a text with several is named behind the path, or by option", "[app]") {
  const test::ScratchFolder folder;
  const std::string one = test::read_text(kText);
  std::string other = one.substr(one.find(".visible"));
  for (std::size_t at = other.find("one_slot"); at != std::string::npos; at = other.find("one_slot", at)) other.replace(at, 8, "two_slot");
  const std::string both = folder.write("both.ptx", one + other);
  const auto open = run_heddle({"check", both, "--map", "0=A 64x64 bf16 swizzle128", "-p", "128=512"});
  CHECK(open.code == kInvalidInput);
  CHECK(contains(open.err, "it has one_slot, two_slot: name one with --kernel"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{both + "#two_slot"}, {both, "--kernel", "two_slot"}}) {
    std::vector<std::string> all = {"check", "--map", "0=A 64x64 bf16 swizzle128", "-p", "128=512"};
    all.insert(all.end(), words.begin(), words.end());
    const auto run = run_heddle(all);
    INFO(run.out << run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "two_slot of sm_90a"));
  }
}

TEST_CASE("check is still that of schedules where its words are no PTX, and help explains both", "[app]") {
  CHECK(contains(run_heddle({"check", "toy_fig1", "toy"}).err, "SCHEDULE"));
  const std::string help = run_heddle({"help", "check"}).out;
  for (const char* part : {"KERNEL", "of a PTX text", "--launch", "--map", "--sizes"}) CHECK(contains(help, part));
}

TEST_CASE("random words for a launch are answered or refused, never a crash", "[app]") {
  std::mt19937_64 random(20261129);
  const std::vector<std::string> pieces = {"0",    "128",        "param_0", "K",   "=",   ":",       "u32", "A",   "64x64",
                                           "bf16", "swizzle128", " ",       "of",  "512", "x",       "-1",  "0x5", ",",
                                           "at",   "99",         "steps",   "1x1", "64",  "pointer", "zero"};
  const auto word = [&] {
    std::string text;
    for (std::uint64_t n = 1 + random() % 9; n > 0; --n) text += pieces[random() % pieces.size()];
    return text;
  };
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> words = {"check", kText, "--quiet", "--limit", "2000"};
    for (const char* flag : {"--grid", "--cluster", "--block", "--param", "--map", "--buffer", "--size", "--branch"})
      if (random() % 3 == 0) words.insert(words.end(), {flag, word()});
    const auto run = run_heddle(words);
    INFO("seed 20261129, number " << i);
    const bool known =
        run.code == kDone || run.code == kUsage || run.code == kInvalidInput || run.code == kNegative || run.code == kNoProof;
    REQUIRE(known);
    if (run.out.empty() && run.err.empty()) FAIL("not a word");
  }
}
