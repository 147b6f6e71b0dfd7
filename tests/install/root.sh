# SPDX-License-Identifier: Apache-2.0
# Sourced: commands in a root of Debian, with /proc for as long as this shell runs.
mounted=()
leave() { for root in "${mounted[@]}"; do umount "$root/proc"; done; mounted=(); }
trap leave EXIT

inside() {  # ROOT COMMAND...
  local root=$1
  shift
  mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && mounted+=("$root"); }
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}
