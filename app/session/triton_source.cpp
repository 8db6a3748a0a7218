#include "app/session/triton_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/base/text_style.h"
#include "core/kernel/subtile.h"

namespace heddle::app {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMostBytes = 8 << 20;  // of a source program that is looked into

/// Makes the kernel of the source's loop by this reading; false when it has none, with the reasons in `refused`.
bool take_reading(TritonSource& source, triton::Reading reading) {
  source.reading = reading;
  source.native = nullptr;
  source.kernel = nullptr;
  const auto& native = source.loop->by(reading);
  if (!native) {
    source.refused = native.error().faults;
    return false;
  }
  source.native = *native;
  source.refused.clear();
  Kernel kernel = triton::kernel_of(*source.native);
  kernel.source = source.name();
  source.kernel = std::make_shared<const Kernel>(std::move(kernel));
  return true;
}

void take_loop(TritonSource& source, const triton::Address& address) {
  const std::optional<triton::LoweredLoop> before = std::exchange(source.loop, std::nullopt);
  source.native = nullptr;
  source.kernel = nullptr;
  const Result<const triton::LoopSite*> site = triton::find_loop(*source.program, address);
  if (!site) {
    source.refused = site.error().faults;
    return;
  }
  const triton::LoweredLoop found(source.program, static_cast<std::size_t>(*site - source.program->loops.data()));
  source.loop = before == found ? before : found;  // what was lowered stays
  if (address.reading) {
    take_reading(source, *address.reading);
  } else if (!take_reading(source, triton::Reading::Triton)) {
    const std::vector<Fault> refused = source.refused;
    if (take_reading(source, triton::Reading::Free)) return;
    source.refused = refused;
    source.reading = triton::Reading::Triton;
  }
}

Result<TritonSource> read_at(const triton::Address& address, std::shared_ptr<const TritonFile> file) {
  TritonSource source;
  source.file = std::move(file);
  source.words = address.words;
  source.reading = address.reading.value_or(triton::Reading::Triton);
  const auto& offers = source.file->offers;
  const bool several = offers.size() > 1;
  const bool usual = std::any_of(offers.begin(), offers.end(), [](const triton::Offer& offer) { return offer.usual; });
  if (several && address.words.empty() && !usual) {
    source.refused.push_back({source.file->path, {}, fmt::format("it holds {} kernels", offers.size()), "choose one"});
    return source;
  }
  Result<triton::Program> program = triton::read_program(address);
  if (!program) {
    if (!several) return program.error();
    source.refused = program.error().faults;  // another one may be readable
    return source;
  }
  source.program = std::make_shared<const triton::Program>(*std::move(program));
  take_loop(source, address);
  return source;
}

}  // namespace

std::string TritonSource::name() const {
  triton::Address address;
  address.path = file->path;
  address.words = words;
  if (loop) address.loop = the_loop()->number;
  if (loop) address.reading = reading;
  return triton::to_string(address);
}

Result<TritonSource> read_triton_source(const std::string& name) {
  const Result<triton::Address> address = triton::parse_address(name);
  if (!address) return address.error();
  Result<std::vector<triton::Offer>> offers = triton::list_offers(address->path);
  if (!offers) return offers.error();
  auto file = std::make_shared<TritonFile>();
  file->path = address->path;
  file->offers = *std::move(offers);
  return read_at(*address, std::move(file));
}

Result<TritonSource> other_source(const TritonSource& source, const std::optional<std::string>& words, std::optional<int> loop,
                                  std::optional<triton::Reading> reading) {
  if (words) {
    // The words of an offer are those of an address.
    Result<triton::Address> address = triton::parse_address(words->empty() ? source.file->path : source.file->path + "#" + *words);
    if (!address) return address.error();
    if (loop) address->loop = loop;
    if (reading) address->reading = reading;
    return read_at(*address, source.file);
  }
  if (!source.program) return Error::input("no kernel is chosen yet", "choose one of those that the file holds");
  TritonSource other = source;
  triton::Address address;
  address.path = source.file->path;
  address.words = source.words;
  address.loop = loop;
  if (!loop && source.loop) address.loop = source.the_loop()->number;
  address.reading = reading;
  if (!reading) address.reading = source.reading;
  take_loop(other, address);
  if (!other.kernel) {
    Error error = Error::input("");
    error.faults = other.refused;
    return error;
  }
  return other;
}

Constraints rules_of(const TritonSource& source, const Problem* problem) {
  if (!source.native || !problem || source.reading != triton::Reading::Triton) return {};
  return triton::triton_rules(*source.program, *source.native, *problem);
}

std::string why_no_kernel(const TritonSource& source) {
  std::string text;
  for (const Fault& fault : source.refused) text += (text.empty() ? "" : "\n") + printable(fault.message);
  return text;
}

std::string in_words(const Fault& fault) {
  const std::string place = fault.pointer.empty() ? "" : "line " + fault.pointer.substr(0, fault.pointer.find(':')) + ": ";
  return printable(place + fault.message + (fault.hint.empty() ? "" : " (" + fault.hint + ")"));
}

std::string row_name(triton::Whose whose) {
  const std::string title = triton::title(whose);
  return title.starts_with("the ") ? title.substr(4) : title;
}

const char* short_name(triton::Reading reading) { return reading == triton::Reading::Free ? "free" : "Triton's"; }

std::string with_article(triton::Reading reading) { return reading == triton::Reading::Free ? "the free" : "Triton's"; }

const char* about(triton::Reading reading) {
  return reading == triton::Reading::Free
             ? "Heddle's reading: the same computation, its tiles cut and its warps specialized as the machine allows."
             : "What Triton's own passes can build: rings as deep as stages lie apart, on Hopper one stream of ops.";
}

const triton::Origin* origin_of(const TritonSource& source, const std::string& op) {
  if (!source.native) return nullptr;
  const triton::Origin* found = nullptr;
  for (const triton::Origin& origin : source.native->origins) {
    if (op.size() < origin.op.size() || !op.starts_with(origin.op)) continue;
    std::string_view rest = std::string_view(op).substr(origin.op.size());
    if (rest.size() > 1 && rest.front() == '_') rest.remove_prefix(1);  // a part of one whose name ends in a number
    const bool part = std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (rest.empty()) return &origin;
    if (part && (!found || found->op.size() < origin.op.size())) found = &origin;
  }
  return found;
}

std::vector<OpId> ops_from(const TritonSource& source, const Problem& problem, mlir::OpId op) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const triton::Origin* origin = origin_of(source, problem.ops[i].name);
    if (origin && std::find(origin->of.begin(), origin->of.end(), op) != origin->of.end()) ops.push_back(OpId(i));
  }
  return ops;
}

OpId op_at_line(const TritonSource& source, const Problem& problem, int line) {
  if (!source.program) return {};
  const mlir::Module& module = *source.program->module;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const triton::Origin* origin = origin_of(source, problem.ops[i].name);
    if (origin && std::any_of(origin->of.begin(), origin->of.end(), [&](mlir::OpId of) { return module.op(of).line == line; }))
      return OpId(i);
  }
  return {};
}

std::string find_source_file(const TritonSource& source, const std::string& file) {
  if (file.empty()) return {};
  std::error_code code;
  const fs::path named(file), path(source.file->path);
  const fs::path folder = fs::is_directory(path, code) ? path : path.parent_path();
  std::vector<fs::path> places;
  if (named.is_absolute())
    places.push_back(named);
  else
    places.push_back(folder / named);
  places.push_back(folder / named.filename());
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, code) && !code) return place.lexically_normal().string();
  return {};
}

std::string line_of_file(const std::string& path, int line) {
  std::error_code code;
  if (line < 1 || path.empty() || !fs::is_regular_file(path, code) || fs::file_size(path, code) > kMostBytes || code) return {};
  std::ifstream in(path);
  std::string text;
  for (int i = 0; i < line; ++i)
    if (!std::getline(in, text)) return {};
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : printable(text.substr(first, last - first + 1));
}

}  // namespace heddle::app
