# One non-recursive Makefile.   make deps | lint-deps | all | demo | test | check | lint | sim | fuzz | bench | install | clean
# Knobs: V=1 prints commands, CC=clang, SANITIZE=address,undefined, WERROR= (empty: warnings do not stop)
# To add a library: a row in tests/lint/third-party.txt, its module in PKGS, its package in DEBS.

V ?=
SANITIZE ?=
WERROR ?= -Werror
PREFIX ?= /usr/local
Q := $(if $(V),,@)
VERSION := 0.1.0

PKGS := json-c yaml-0.1 sqlite3 libarchive zlib libevent_openssl libevent libssl libcrypto libpcre2-8
DEBS := gcc make pkg-config libcurl4-openssl-dev libjson-c-dev libyaml-dev libsqlite3-dev libarchive-dev zlib1g-dev \
	libevent-dev libssl-dev libpcre2-dev libcrypt-dev libseccomp-dev uthash-dev ca-certificates
TEST_DEBS := libcmocka-dev sqlite3 curl jq python3 openssl docker-registry git openssh-client openssh-server gnupg patch libjsonnet0 jsonnet
# All in Debian 12; the version of the two from clang is part of their name, as their findings change with it.
LINT_DEBS := clang-tidy-19 clang-format-19 cppcheck shellcheck

comma := ,
BUILD ?= build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wcast-qual -Wformat=2 \
	-Wundef -Wvla -Wnull-dereference -Wdouble-promotion -Wimplicit-fallthrough -Wswitch-enum -Wdate-time
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null | head -1))
ifeq ($(IS_CLANG),)
WARN += -Wduplicated-cond -Wduplicated-branches -Wlogical-op
endif
# The second line only where the compiler knows them (gcc 12 lacks the last one).
HARDEN := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection \
	$(foreach f,-ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr -fstrict-flex-arrays=3,$(shell \
	$(CC) -Werror $(f) -fsyntax-only -x c /dev/null 2>/dev/null && echo $(f)))
ifneq ($(SANITIZE),)
HARDEN := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDSAN := -fsanitize=$(SANITIZE)
WARN := $(filter-out -Wnull-dereference,$(WARN))
endif
# Padding before functions and after jumps is a fiftieth of the code; loops keep theirs.
OPT ?= $(if $(SANITIZE),-O1,-O2 -falign-functions=1 -falign-jumps=1)
CPPFLAGS := -I. -D_GNU_SOURCE -DALM_VERSION='"$(VERSION)"'
# Tables to unwind the stack at run time are an eighth of the code; nothing here does, and debuggers read those of -g.
UNWIND := $(if $(SANITIZE),,-fno-asynchronous-unwind-tables)
# What runs once per command, per answer of a person or per change of an app is small; what runs per byte, row or fast.
# alm/engine and alm/client wait for a server and for the log's disk. Of the folders that SMALL_OF names most is fast: of the log what
# appends and verifies, of CEL what evaluates, of io what every request goes through.
SMALL_OF := $(addprefix alm/audit/,anchor audit. audit_anchor audit_objects audit_open changes checkpoint log objects snapshot tables verify_anchors disk_watch export gap kept large prune query redact replay restored verify_notes \
	verify_report row_text) $(addprefix alm/base/,clock file log. pubkey visible) \
	$(addprefix alm/io/,address beneath curl_lib data_dir db_copy db_open jsonnet jws loop metrics own_ca process program quota sandbox \
	serving_cert sql tls transport_curl transport_local) $(addprefix alm/apiserver/,admit apiserver collection converting health list modern mutation object_meta options patching pods \
	registry resource_quotas route status store/audit_write store/hub store/objects_check store/revisions waiting wire/) crds/legacy \
	$(addprefix alm/obj/cel/cel_,authorizer check eval fn format l message net o parse q rules t value) \
	$(addprefix alm/obj/query/,field json rbac selector wait) $(addprefix alm/obj/schema/,api_ builtin_types schema_c schema_f schema_path schema_s \
	schema_value) \
	$(addprefix alm/obj/,decode diff gvk patch/apply patch/managed patch/owned patch/patch quantity regex/regex_ yaml_) \
	$(addprefix catalog/resolve/,resolve. resolve_change resolve_claims resolve_deps resolve_doc resolve_exclude resolve_package resolve_record \
	resolve_relax resolve_replay resolve_resources resolve_search resolve_when solve) catalog/semver_range catalog/weburl \
	$(addprefix installers/,access hooks manifest release render tmpl/eval tmpl/exec tmpl/failure tmpl/lex tmpl/pars tmpl/structs) $(addprefix installers/value/,date gonum number print quote zone)
SMALL := $(SMALL_OF:%=%%) $(addsuffix /%,alm/cli alm/client alm/engine alm/main alm/controllers alm/live alm/render alm/source alm/sources \
	alm/unit $(addprefix alm/apiserver/,admission auth docs kinds loops) catalog/gate catalog/index catalog/lint catalog/trust \
	installers/chart installers/format installers/jsonschema installers/tmpl/fn)
# The code of a unit test is built more often than it is run; the plain build has warnings that need an optimizer, and what of alm/io stands
# before calls of the C library may stand before the first ones of a sanitizer, as long as none of its checks is left in it.
small = $(if $(SANITIZE),$(if $(filter tests/unit/%,$(filter-out tests/unit/alm/io/%,$(1))),-O0),$(if $(filter $(SMALL),$(1)),-Os)$(if $(filter tests/unit/%,$(1)),-O1))
# Sanitizers name functions and lines; the variables that a debugger also wants are a fifth of their build.
DEBUG_INFO ?= $(if $(SANITIZE),-g1,-g)
CFLAGS := -std=gnu17 $(OPT) $(DEBUG_INFO) $(WARN) $(WERROR) $(HARDEN) $(UNWIND) -fno-common -fPIE
# A place of its own for each run is no test's matter: what UBSan knows of a check has an address, and 430,000 of them were put right at each start.
LDHARDEN := $(if $(SANITIZE),-no-pie,-pie) -Wl,-z,relro,-z,now,-z,noexecstack
# Some of the libraries' archives have a section a function: those that nobody calls stay out.
LDFLAGS := $(LDHARDEN),-z,pack-relative-relocs,--gc-sections $(LDSAN)
# Half a thousand programs of tests: gold takes half of ld's time for one, and half of that is what debuggers want
# (TEST_STRIP= keeps it).
TEST_STRIP ?= $(if $(SANITIZE),,-Wl,-S)
TEST_LDFLAGS := $(LDHARDEN) $(if $(shell command -v ld.gold),-fuse-ld=gold) $(TEST_STRIP) $(LDSAN)
# Looked up when the first recipe runs, so that `make deps` works before the packages are there.
# The program takes libraries from their archives where the machine has them: it starts in 2 ms instead
# of 12, with a third of the memory. STATIC= takes the shared ones, as tests do, and as a distribution wants.
# OpenSSL stays shared: its security fixes reach us without a build, and it is twice as large as all of alm.
# libcurl is neither: alm/io/curl_lib.h.
STATIC ?= $(if $(SANITIZE),,1)
LIBS := archive event_openssl event_core event_extra json-c yaml sqlite3 z pcre2-8 seccomp
has_archive = $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKGS) libcurl))$(PKG_CFLAGS)
PKG_LIBS = $(LIBS:%=-l%) -lcrypt -lssl -lcrypto -lm
ALM_LIBS = $(foreach l,$(LIBS),$(if $(and $(STATIC),$(call has_archive,$(l))),$(BUILD)/lib/lib$(l).a,-l$(l))) -lcrypt -lssl -lcrypto -lm

LIB_SRC := $(sort $(filter-out alm/main/%,$(shell find alm catalog crds installers -name '*.c')))
MAIN_SRC := $(wildcard alm/main/*.c)
UNIT_SRC := $(sort $(shell find tests/unit -name 'test_*.c'))
TESTLIB_SRC := $(wildcard tests/lib/*.c)
SIM_SRC := $(wildcard tests/sim/*.c) alm/main/our_crds.c
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

LIB := $(BUILD)/libalm.a
TEST_LIB := $(BUILD)/libtest.a
UNIT := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(UNIT_SRC)))

.PHONY: api-types man image manifests all deps test-deps lint-deps lint-fast lint-analysers lint-tidy demo test check unit lint sim fuzz bench install install-lib clean test-cluster format mutate print-compile print-link
.SECONDARY:
.DELETE_ON_ERROR:
# As many jobs as there are processors, unless the caller says otherwise.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

all: $(BUILD)/alm

# What objects are compiled with, warnings aside: they are made anew when it changes, as when a file joins SMALL. The first time it is
# older than any object.
FLAGS := $(IS_CLANG) $(CPPFLAGS) $(OPT) $(DEBUG_INFO) $(HARDEN) $(UNWIND) $(SMALL)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@test -e $@ || touch -d 2000-01-01 $@.new
	$(Q)echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || { echo '$(subst ','\'',$(FLAGS))' >$@; test ! -e $@.new || touch -r $@.new $@; }
	@rm -f $@.new
.PHONY: FORCE
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC $<")
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(call small,$<) -MMD -MP -c $< -o $@

# YAML and other text that the program carries (alm/base/carried.h): crds/apptype.yaml becomes crds_apptype_yaml.
$(BUILD)/embed.c: $(wildcard crds/*.yaml alm/console/*.html) deploy/approver.yaml deploy/approval-webhook.yaml deploy/manifests/alm.yaml tests/lib/embed.sh
	@mkdir -p $(@D)
	$(Q)sh tests/lib/embed.sh $(filter %.yaml %.html,$^) > $@
$(BUILD)/embed.o: $(BUILD)/embed.c
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# The types of the built-in kinds, from a table. OPENAPI.tsv and GO.tsv, recorded from a release of Kubernetes, make the table.
API_TYPES := alm/obj/schema/api_types
$(BUILD)/api_types.c: $(API_TYPES).awk $(API_TYPES).txt
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -f $^ > $@
$(BUILD)/api_types.o: $(BUILD)/api_types.c $(API_TYPES).h
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
api-types:
	$(Q)python3 $(API_TYPES)_merge.py $(OPENAPI) $(GO) $(API_TYPES)_go.tsv > $(API_TYPES).txt

$(LIB): $(call obj,$(LIB_SRC)) $(BUILD)/embed.o $(BUILD)/api_types.o
	$(Q)rm -f $@ && ar qcs $@ $^

# The libraries' archives without their tables to unwind the stack (UNWIND). PCRE2's translator to machine code, a quarter of a
# megabyte, comes along only if something of alm calls it: its own calls, which follow a translation, do not count.
UNASKED := $(addprefix --weaken-symbol=,pcre2_jit_match_8 _pcre2_jit_check_exec_8 _pcre2_jit_free_8)
.SECONDEXPANSION:
$(BUILD)/lib/lib%.a: $$(call has_archive,$$*) Makefile
	@mkdir -p $(@D)
	$(Q)objcopy -R .eh_frame -R .rela.eh_frame $(UNASKED) $< $@

$(BUILD)/alm: $(call obj,$(MAIN_SRC)) $(LIB) $(filter $(BUILD)/lib/%,$(ALM_LIBS))
	$(if $(V),,@echo "  LD $@")
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter-out $(BUILD)/lib/%,$^) $(ALM_LIBS)

# What tests share; a program takes what it uses of it, and of the library what that uses.
$(TEST_LIB): $(call obj,$(TESTLIB_SRC))
	$(Q)rm -f $@ && ar qcs $@ $^

# A unit test is in the room of what it tests; its name is in no other.
$(foreach t,$(UNIT_SRC),$(eval $(BUILD)/tests/$(basename $(notdir $(t))): $(call obj,$(t))))
$(BUILD)/tests/test_our_crds: $(call obj,alm/main/our_crds.c)
$(UNIT): $(TEST_LIB) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(TEST_LIB) $(LIB) $(PKG_LIBS) -lcmocka

$(BUILD)/sim: $(call obj,$(SIM_SRC)) $(TEST_LIB) $(LIB)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

unit: $(UNIT)
sim: $(BUILD)/sim

# A planted bug (tests/sim/plants): the files that the patch names are compiled again with it and come before the library,
# in the program that must find it: sim, or a unit test. Bugs need no debugger, and no warning stops them.
PLANT_CC = $(CC) -I$(@D) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -g0 -w
plant_main = $(call obj,$(or $(filter %/$(shell \
	sed -n 's|^Found by: \(test_[a-z_]*\)$$|\1.c|p' tests/sim/plants/$(1).patch),$(UNIT_SRC)),$(SIM_SRC)))
$(BUILD)/plants/%/run: tests/sim/plants/%.patch $$(call plant_main,$$*) $(TEST_LIB) $(LIB)
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && exec >$(@D).log 2>&1 && \
	for f in $$(sed -n 's|^+++ b/||p' $<); do install -D -m 644 $$f $(@D)/$$f || exit 1; done && \
	patch -f -p1 --no-backup-if-mismatch -d $(@D) <$< && \
	for f in $$(sed -n 's|^+++ b/\(.*\.c\)$$|\1|p' $<); do \
		$(PLANT_CC) -c $(@D)/$$f -o $(@D)/$$(echo $$f | tr / _).o || exit 1; done && \
	$(CC) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(@D)/*.o $(TEST_LIB) $(LIB) $(PKG_LIBS) -lcmocka

$(BUILD)/bench_%: $(BUILD)/obj/tests/bench/bench_%.o $(TEST_LIB) $(LIB)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# The clients of bench_table.sh.
$(BUILD)/load: $(BUILD)/obj/tests/bench/load.o $(TEST_LIB) $(LIB)
	$(Q)$(CC) $(TEST_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# bench: ratios measured in one run; BENCH=audit for one of them.
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/%,$(BENCH_SRC))
BENCH_SH := $(wildcard tests/bench/bench_*.sh)
BENCH_ALL := $(BENCH_BIN) $(BENCH_SH)
bench: $(BUILD)/alm $(BUILD)/load $(if $(BENCH),$(filter %/bench_$(BENCH) %/bench_$(BENCH).sh,$(BENCH_ALL)),$(BENCH_ALL))
	$(Q)for b in $(filter-out $(BUILD)/alm $(BUILD)/load,$^); do echo "== $$b"; case $$b in \
		*.sh) BUILD=$(BUILD) ALM=$(abspath $(BUILD)/alm) $$b ;; *) (cd $(BUILD) && ./$${b##*/}) ;; esac || exit 1; done

# check: everything that needs no package installation; the test command of the README adds `deps`.
# RUN="NAME..." takes and builds those whose path contains a name.
chosen = $(strip $(if $(RUN),$(foreach t,$(1),$(if $(strip $(foreach r,$(RUN),$(findstring $(r),$(t)))),$(t))),$(1)))
check: all $(call chosen,$(UNIT)) $(if $(call chosen,tests/e2e/test_fuzz_corpus.sh),$(FUZZ)) \
	$(if $(call chosen,tests/sim/test_sim.sh tests/sim/test_plants.sh),$(BUILD)/sim) \
	$(if $(call chosen,tests/mutate/test_sample.sh),$(MUTATE_SAMPLE))
	$(Q)BUILD=$(BUILD) sh tests/lib/run.sh $(RUN)

test: deps test-deps
	$(Q)$(MAKE) --no-print-directory check

sudo = $(if $(filter 0,$(shell id -u)),,sudo)
deps:
	$(Q)sh tests/lib/deps.sh "$(sudo)" $(DEBS)
test-deps: | deps # apt-get runs once at a time
	$(Q)sh tests/lib/deps.sh "$(sudo)" $(TEST_DEBS) kubectl
lint-deps: | test-deps
	$(Q)sh tests/lib/deps.sh "$(sudo)" $(LINT_DEBS)

# The story of the README, in a temporary folder; test-cluster plays it against the cluster of KUBECONFIG, then what else only a
# cluster shows: rights, two controllers of which the one that acts is killed (ROUNDS=20 times), replicas with the chart's own rights and
# flags, whose certificates are replaced (tests/cluster/replicas.sh), alm run (tests/cluster/pipelines.sh), what else goes wrong (tests/cluster/failures.sh),
# the README's five commands (tests/cluster/newcomer.sh), ALM upgraded by itself, installing and removing ALM.
demo: deps
	$(Q)sh tests/lib/deps.sh "$(sudo)" kubectl
	$(Q)$(MAKE) --no-print-directory all
	$(Q)ALM=$(abspath $(BUILD)/alm) deploy/demo/demo.sh
test-cluster: all
	$(Q)ALM=$(abspath $(BUILD)/alm) BUILD=$(BUILD) tests/cluster/run.sh

install: all
	$(Q)install -D -m 755 $(BUILD)/alm $(DESTDIR)$(PREFIX)/bin/alm
	$(Q)ln -sf alm $(DESTDIR)$(PREFIX)/bin/kubectl-alm
	$(Q)$(MAKE) --no-print-directory man MAN=$(DESTDIR)$(PREFIX)/share/man/man1
# install-lib: libalm.a, its headers and alm.pc; tests/embed/embed.c is a program that needs no more (README, As a library).
install-lib: $(LIB)
	$(Q)install -D -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib/libalm.a
	$(Q)for h in $$(find alm catalog crds installers -name '*.h'); do \
		install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/alm/$$h || exit 1; done
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig && printf '%s\n' 'Name: alm' 'Version: $(VERSION)' \
		'Description: application lifecycles on Kubernetes' 'Cflags: -I$(PREFIX)/include/alm' \
		'Libs: -L$(PREFIX)/lib -lalm $(PKG_LIBS)' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/alm.pc
# man: a page of each command, as its --help says; `kubectl alm` is the link above.
MAN ?= $(BUILD)/man
man: $(BUILD)/alm
	$(Q)mkdir -p $(MAN) && $(BUILD)/alm help --man >$(MAN)/alm.1 && \
	$(BUILD)/alm completion words -- '' | while read -r c; do \
		$(BUILD)/alm help --man $$c >$(MAN)/alm-$$c.1; \
		$(BUILD)/alm help $$c | sed -n '/^COMMANDS/,/^$$/s/^        \([a-z-]*\)  .*/\1/p' | while read -r s; do \
			$(BUILD)/alm help --man $$c $$s >$(MAN)/alm-$$c-$$s.1 || exit 1; done; done

# image: an OCI archive of the program and its libraries, without a daemon; deploy/image/build.py says what it needs, and joins those
# of several architectures.
image: $(BUILD)/alm
	$(Q)python3 deploy/image/build.py $< $(VERSION) $(BUILD)/alm-$(VERSION).oci.tar

# manifests: the chart of ALM itself, rendered for `kubectl apply`; tests/e2e/test_deploy.sh compares.
manifests: $(BUILD)/alm
	$(Q)mkdir -p deploy/manifests && $< template alm deploy/charts/alm -n alm-system --set createNamespace=true \
		>deploy/manifests/alm.yaml

# lint: format, layers, headers, banned calls, names, circles, exports and scripts (all that FAST=1 does), then cppcheck and clang-tidy. A file
# is read again when it, a header of it or .clang-tidy has changed: what is clean has a stamp in $(BUILD)/lint.
LINT_SRC := $(LIB_SRC) $(MAIN_SRC) $(UNIT_SRC) $(TESTLIB_SRC) $(SIM_SRC) $(BENCH_SRC) $(wildcard tests/fuzz/*.c)
LINT_OK := $(patsubst %.c,$(BUILD)/lint/%.ok,$(LINT_SRC))
# The analyser's work for a function: a third of the default's takes a quarter of the time; .ci/run, which has 40 minutes in all,
# takes an eighth of that.
LINT_NODES ?= 75000
TIDY_FLAGS := -std=gnu17 -Xclang -analyzer-config -Xclang max-nodes=$(LINT_NODES)
# What is defined for clang's analyser or for one compiler alone are the macros that tell it of results: each file would be read once more
# for them.
CPPCHECK := cppcheck -q --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -I. -U__clang_analyzer__ -U__clang__ -U__GNUC__ \
	--suppressions-list=tests/lint/cppcheck.txt --library=tests/lint/cppcheck.cfg
# The scripts and the analysers run beside each other. What is under tests/ is not walked path by path: its paths run under the sanitizers.
lint:
	$(Q)$(MAKE) --no-print-directory -k lint-fast $(if $(FAST),,lint-analysers)
lint-fast: $(BUILD)/alm
	$(Q)sh tests/lint/lint.sh
	$(Q)sh tests/lint/exports.sh $(call obj,$(LIB_SRC) $(MAIN_SRC))
	$(Q)sh tests/lint/program_size.sh $<
	$(Q)python3 tests/lint/circles.py $(BUILD)/obj $(call obj,$(LIB_SRC) $(MAIN_SRC))
lint-analysers: $(BUILD)/lint/cppcheck.ok lint-tidy
# clang-tidy's start takes as long as a small file, so one start reads eight of those that are to be read: tests/lint/tidy.sh
# makes their stamps. What takes long comes first.
lint-tidy: export TIDY_FLAGS := $(CPPFLAGS) $(TIDY_FLAGS)
lint-tidy: $(LINT_OK)
	@touch $(BUILD)/lint/unread
	$(Q){ grep -v ^tests/ $(BUILD)/lint/unread | sort -u | xargs -r ls -S | xargs -r -n 8; \
		grep ^tests/ $(BUILD)/lint/unread | sort -u | xargs -r -n 8 echo '--checks=-clang-analyzer-*'; \
		rm $(BUILD)/lint/unread; } | \
		TIDY_FLAGS="$$TIDY_FLAGS $(PKG_CFLAGS)" xargs -r -P $(shell nproc) -L 1 sh tests/lint/tidy.sh $(BUILD)/lint
$(BUILD)/lint/%.ok: %.c .clang-tidy
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@echo $< >>$(BUILD)/lint/unread
# Header files too, so one stamp for all; it looks again at what changed.
$(BUILD)/lint/cppcheck.ok: $(LINT_SRC) $(wildcard $(addsuffix /*.h,$(LIB_DIRS) alm/main tests/lib tests/sim)) tests/lint/cppcheck.txt tests/lint/cppcheck.cfg
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CPPCHECK")
	$(Q)mkdir -p $(BUILD)/lint/cppcheck && $(CPPCHECK) --cppcheck-build-dir=$(BUILD)/lint/cppcheck -j$(shell nproc) $(LINT_SRC)
	@touch $@

# mutate: puts N realistic bugs into the product, one at a time, and tells which of them no test notices
# (tests/mutate/mutate.py). MUTATE=path N=100 SEED=1
MUTATE_SAMPLE = $(patsubst %,$(BUILD)/tests/%,$(sort $(shell sed -n 's/^\(test_[a-z_]*\)\t.*/\1/p' tests/mutate/sample.txt)))
mutate: all unit sim $(FUZZ)
	$(Q)python3 tests/mutate/mutate.py $(MUTATE) -n $(or $(N),100) --seed $(or $(SEED),1) $(MUTATE_FLAGS)
print-compile:
	@:$(info $(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS))
print-link:
	@:$(info $(CC) $(TEST_LDFLAGS) @OBJECTS@ $(PKG_LIBS) -lcmocka)

# fuzz: replays the seeds; RUNS=100000 SEED=7 mutates them. With CC=clang and LIBFUZZER=1 the harnesses are libFuzzer's.
$(BUILD)/fuzz/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(if $(LIBFUZZER),,$(BUILD)/obj/tests/fuzz/standalone.o) $(TEST_LIB) $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_LDFLAGS) $(if $(LIBFUZZER),-fsanitize=fuzzer) -o $@ $^ $(PKG_LIBS) -lcmocka
fuzz: $(FUZZ) $(BUILD)/alm
	$(Q)for f in $(FUZZ); do echo "  FUZZ $$f"; $$f -runs=$(or $(RUNS),0) -seed=$(or $(SEED),1) tests/fuzz/corpus/$${f##*/fuzz_}/* >$$f.log 2>&1 || { tail -20 $$f.log; exit 1; }; done
	$(Q)ALM=$(BUILD)/alm python3 tests/fuzz/diff_charts.py --seed $(or $(SEED),1) --charts 3
	$(Q)ALM=$(BUILD)/alm python3 tests/fuzz/diff_trees.py --seed $(or $(SEED),1) --charts 3

format:
	$(Q)clang-format-19 -i $$(git ls-files -co --exclude-standard '*.[ch]')

clean:
	$(Q)rm -rf build build-*

-include $(LINT_OK:.ok=.d)
-include $(patsubst %.o,%.d,$(call obj,$(LIB_SRC) $(MAIN_SRC) $(UNIT_SRC) $(TESTLIB_SRC) $(SIM_SRC) $(FUZZ_SRC) $(BENCH_SRC)))
