#!/bin/sh
# Stands in for ptxas while a program is captured: the machine code that it makes of a text is the text itself. A driver takes that as well,
# and what is launched can be written down. `ptxas [OPTIONS] TEXT.ptx -o RESULT`
before=
text=
result=
for word; do
  case $before in
    -o | --output-file) result=$word ;;
    *) case $word in
      --version | -V) echo "ptxas: in place of NVIDIA's, release 13.0, V13.0.88" && exit ;;
      *.ptx) text=$word ;;
    esac ;;
  esac
  before=$word
done
if [ -z "$text" ] || [ -z "$result" ]; then
  echo "ptxas of heddle capture: expected TEXT.ptx -o RESULT" >&2
  exit 1
fi
cp "$text" "$result" && printf '\0' >> "$result"
