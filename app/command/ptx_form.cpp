#include "app/command/ptx_form.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "app/command/commands.h"
#include "app/command/shared_options.h"
#include "core/base/atomic_file.h"
#include "core/base/scanner.h"
#include "ptx/launch/launch_json.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

bool is_launch_file(const fs::path& path) {
  std::error_code code;
  if (path.extension() != ".json" || !fs::is_regular_file(path, code)) return false;
  const Result<std::string> text = read_file(path.string());
  return text && ptx::says_launch(*text);
}

OptionSpec words(const char* flag, const char* value, const char* about, bool repeats = false) {
  return {flag, "", value, about, ValueType::Name, {}, 0, 0, repeats};
}

/// What a launch is made of.
std::vector<OptionSpec> launch_options() {
  using namespace spec;
  return {
      file("--launch", "", "how the PTX is launched (heddle.launch/1; default: the .json beside it, also Triton's)"),
      words("--kernel", "NAME", "which kernel of the PTX (default: the launch's, or the only one)"),
      words("--grid", "X[,Y[,Z]]", "CTAs"),
      words("--cluster", "X[,Y[,Z]]", "CTAs of a cluster"),
      words("--block", "X[,Y[,Z]]", "threads of a CTA (default: what the PTX requires)"),
      integer("--smem", "BYTES", 0, 232'448, "dynamic shared memory"),
      {"--param",
       "-p",
       "PLACE=TYPE:VALUE",
       "a parameter, by its byte in the block or its name: 16=u32:4096, K=4096 (TYPE where a name or the PTX does not say it), 8=pointer, "
       "8=pointer:4096:zero (made-up memory of so many bytes, all 0); may be given several times",
       ValueType::Name,
       {},
       0,
       0,
       true},
      words("--map", "PLACE=MAP",
            "a tensor map: 0=\"A 64x128 bf16 swizzle128 of 4096x8192\" (box, then in any order extents after of, strides BYTES, steps, "
            "atom32, interleave16, at ADDRESS; innermost dimension first); PLACE may be \"memory ADDRESS\"; may be given several times",
            true),
      words("--buffer", "ADDRESS=BYTES", "memory that may be touched; with :zero behind it all 0; may be given several times", true),
      words("--size", "NAME=SIZE",
            "another size: K=320 changes the parameter K and all extents of tensor maps that have its value; 1024=320 all that is 1024; "
            "K=320:A.0,B.1 only these extents; may be given several times",
            true),
      words("--machine", "NAME", "whose costs instructions have (default: the shipped one of the PTX's target; without one, none)"),
      integer("--limit", "N", 1, 10'000'000'000, "instructions of warps after which a run is stopped (default 20000000)"),
      words("--branch", "LINE=WAY", "a branch on data that is not known: taken, not or both; may be given several times", true),
      {"--timeout", "", "S", "seconds for everything", ValueType::Seconds, {}, 0, kMostSeconds, false}};
}

std::vector<OptionSpec> show_options() {
  std::vector<OptionSpec> options = launch_options();
  options.push_back(spec::kJson);
  return options;
}

CommandSpec check_form() {
  CommandSpec form{
      "check",
      "run a launch of a PTX text on the CPU and say what is wrong with it: hangs, races, wrong bytes; what is doubtful by the letter of "
      "the "
      "PTX ISA; and what the launch did not execute; exit 0 in order, 4 not, 3 unreadable, 5 stopped before its end",
      {"heddle check gemm.ptx --launch launch/0.json", "heddle check launch", "heddle check launch/0.json --sizes auto",
       "heddle check gemm.ptx --grid 4 --block 384 --smem 216064 --map 768=\"K 64x176 bf16 swizzle128\" --param 1024=u32:2048"},
      {{"FILES",
        "PTX texts (.ptx, .ptx#KERNEL), launch files (heddle.launch/1), or folders of heddle capture",
        PositionalType::Files,
        true,
        {}}},
      launch_options(),
      run_ptx_check};
  form.options.push_back(
      spec::choice("--sizes", "WHICH", {"auto"},
                   "besides: one trip, fewer trips than stages, no multiple of the stages, three tiles, a short last tile"));
  form.options.push_back(spec::kJson);
  return form;
}

CommandSpec show_form() {
  return {"show",
          "a launch of a PTX text as text: roles of its warps, rings in shared memory, one steady trip of each role",
          {"heddle show gemm.ptx --launch launch/0.json", "heddle show launch/0.json --size K=1024"},
          {{"FILES",
            "PTX texts (.ptx, .ptx#KERNEL), launch files (heddle.launch/1), or folders of heddle capture",
            PositionalType::Files,
            true,
            {}}},
          show_options(),
          run_ptx_show};
}

}  // namespace

PtxPath split_kernel(const std::string& path) {
  const std::size_t mark = path.rfind(".ptx#");
  return mark == std::string::npos ? PtxPath{path, {}} : PtxPath{path.substr(0, mark + 4), path.substr(mark + 5)};
}

bool is_ptx_path(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return !launch_files_of(path).empty();
  return split_kernel(path).file.ends_with(".ptx") || is_launch_file(path);
}

std::vector<std::string> launch_files_of(const std::string& folder) {
  using Key = std::tuple<std::uint64_t, std::string>;
  std::vector<std::pair<Key, std::string>> files;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (is_launch_file(at->path())) {
      const std::string name = at->path().filename().string();
      files.push_back({{number_in_front<std::uint64_t>(name, ~std::uint64_t{0}), name}, at->path().string()});
    }
  std::ranges::sort(files);
  std::vector<std::string> paths;
  for (auto& [key, path] : files) paths.push_back(std::move(path));
  return paths;
}

const CommandSpec* ptx_form(std::string_view name) {
  static const std::vector<CommandSpec> forms = {check_form(), show_form()};
  const auto form = std::ranges::find(forms, name, &CommandSpec::name);
  return form != forms.end() ? &*form : nullptr;
}

const CommandSpec& form_for(const CommandSpec& command, const std::vector<std::string>& words) {
  const CommandSpec* form = ptx_form(command.name);
  const auto asks = [](const std::string& word) { return !word.starts_with("-") && is_ptx_path(word); };
  return form && std::ranges::any_of(words, asks) ? *form : command;
}

std::vector<OptionSpec> offered_options(const CommandSpec& command) {
  std::vector<OptionSpec> options = all_options(command);
  if (const CommandSpec* form = ptx_form(command.name))
    for (const OptionSpec& option : form->options)
      if (std::ranges::find(options, option.flag, &OptionSpec::flag) == options.end()) options.push_back(option);
  return options;
}

}  // namespace heddle::app
