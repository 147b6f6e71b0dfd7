# SPDX-License-Identifier: Apache-2.0
# Sourced: roots of Debian, and commands in them, with /proc for as long as this shell runs.
mounted=()
leave() { for root in "${mounted[@]}"; do umount "$root/proc"; done; mounted=(); }
trap leave EXIT

inside() {  # ROOT COMMAND...
  local root=$1
  shift
  mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && mounted+=("$root"); }
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# FOLDER/SUITE-base is a minimal root; FOLDER/SUITE-PURPOSE is a copy of it, kept between calls.
root_for() {  # SUITE FOLDER PURPOSE
  local base=$2/$1-base
  [[ -e $base/etc/debian_version ]] || debootstrap --variant=minbase "$1" "$base" "${LLMSCAPE_DEBIAN:-http://deb.debian.org/debian}" >&2
  [[ -d $2/$1-$3 ]] || cp -a "$base" "$2/$1-$3"
  echo "$2/$1-$3"
}

# The sources of TREE as git has them, in ROOT/llmscape.
put_tree() {  # TREE ROOT
  rm -rf "$2/llmscape"
  mkdir -p "$2/llmscape"
  git -c safe.directory="$1" -C "$1" ls-files -z | tar -C "$1" --null -T - -c | tar -C "$2/llmscape" -x
}
