# SPDX-License-Identifier: Apache-2.0
# llmscape from source in two stages: docker build -t llmscape .
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ cmake ninja-build git ca-certificates pkg-config \
    libsimgrid-dev libboost-dev libyaml-cpp-dev libeigen3-dev libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libzstd-dev \
    libdnnl-dev libpagmo-dev dpkg-dev file
COPY . /llmscape
RUN cd /llmscape && cmake --preset release -D LLMSCAPE_TESTS=OFF && cmake --build --preset release && cd build/release && cpack -G DEB

FROM debian:12-slim
COPY --from=build /llmscape/build/release/llmscape_*.deb /
RUN apt-get update && apt-get install -y --no-install-recommends /llmscape_*.deb python3 && rm -rf /llmscape_*.deb /var/lib/apt/lists/*
ENTRYPOINT ["llmscape"]
