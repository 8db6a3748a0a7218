// Where Triton's texts are found: alone in a file, one after another in a log, in folders, in the events of a tritonparse log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct FoundText {
  std::string path;           ///< of the file that has it
  std::string folder;         ///< of the path, what the name of the folder around it is: a hash in Triton's cache, or that of a trace
  std::string kernel;         ///< empty: no function was seen in it
  std::string pass;           ///< before which pass it was printed; "after-PASS"; "reproducer"; empty: it does not say
  std::string pass_class;     ///< "TritonGPUPipeline"
  int run = 1;                ///< how often this compile had printed before this pass, this time included
  std::size_t compile = 0;    ///< texts of one compile of one kernel have one number
  int compile_of_kernel = 1;  ///< how many compiles of this kernel began so far
  std::size_t line = 1;       ///< of the file, where the text begins
  bool loaded = false;        ///< `text` holds it; else the whole file is the text
  std::string text;
  Metadata metadata;   ///< of traces; of files it is read when the text is
  bool usual = false;  ///< of its compile
};

/// All texts that a file or folder has, in its order. A fault when it cannot be read or has none.
Result<std::vector<FoundText>> find_texts(const std::string& path);

/// The text itself, and what stands beside its file in JSON.
struct LoadedText {
  std::string text;
  Metadata metadata;
};
Result<LoadedText> load_text(const FoundText& found);

/// Texts in a log, each up to the end of its module and its locations; the whole content where it is one text without a log around it.
std::vector<FoundText> cut_log(std::string_view content, const std::string& path);
/// Texts in the events of tritonparse, one a line.
Result<std::vector<FoundText>> read_trace(const std::string& path);
/// Texts in a folder of Triton's cache, of its kernel dump, or one above several of them.
Result<std::vector<FoundText>> read_folder(const std::string& path);

/// What a JSON object says of a compiled kernel. Members of another type are left out.
Metadata read_metadata(std::string_view json, const std::string& file);
/// The `.json` beside a text; empty where there is none.
Metadata metadata_beside(const std::string& path);

/// By the first bytes of a file.
bool begins_like_text(std::string_view head);
bool begins_like_trace(std::string_view head);
/// "attention_forward": the first function in the text that is public, else the first.
std::string kernel_in(std::string_view text);
/// Whether the text has layouts and warps: TTGIR, and not the TTIR before it or the LLVM dialect behind it.
bool has_layouts(std::string_view text);

}  // namespace heddle::triton
