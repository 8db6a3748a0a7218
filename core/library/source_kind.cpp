#include "core/library/source_kind.h"

namespace heddle {

const char* why_not(SourceKind kind, SourceUse use) {
  if (kind == SourceKind::Dump) switch (use) {
      case SourceUse::Family: return "a compiler's dump has no parameters to vary";
      case SourceUse::Layouts: return "a compiler's dump says nothing of layouts";
      case SourceUse::Tuning: return "a compiler's dump has no parameters to tune";
      case SourceUse::Cuts: return "a dump's tiles are the compiler's";
      case SourceUse::KernelText:
      case SourceUse::MachineText: return "a compiler's dump is read as it is: its kernel and machine have no text of their own";
      case SourceUse::OtherMachine:
        return "the ops of a compiler's dump have no shapes to compute costs from, only the cycles that the compiler gave them";
      case SourceUse::WholeKernel: return "a dump holds one loop: how often it runs, and what is around it, it does not say";
      case SourceUse::OrderByTime: break;
    }
  if (kind == SourceKind::Triton) switch (use) {
      case SourceUse::Family: return "the tiles of a Triton kernel are numbers of its text: vary them in Python";
      case SourceUse::Layouts: return "how the tiles of a Triton text lie is Triton's choice";
      case SourceUse::Tuning: return "the tiles of a Triton kernel are numbers of its text: tune them in Python";
      case SourceUse::Cuts: return "the tiles of a Triton kernel are numbers of its text";
      case SourceUse::KernelText: return "Triton's text is read as it is: change the kernel in Python";
      case SourceUse::OrderByTime: return "Triton's passes have rules of their own, and of what they build the least II is looked for";
      case SourceUse::MachineText:
      case SourceUse::OtherMachine:
      case SourceUse::WholeKernel: break;
    }
  return "";
}

}  // namespace heddle
