/* SPDX-License-Identifier: GPL-2.0-only */
/* What the plugin uses of QEMU's interface for plugins, and what QEMU asks of it: no package of Debian's has its header. */
#ifndef API_H
#define API_H

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_API	4	/* of QEMU 9.2 on */
#define EXPORT		__attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
	void (*translated)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
	void (*executed)(unsigned int cpu, void *data), int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
	void (*executed)(unsigned int cpu, void *data), int registers, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t bytes);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

#endif
