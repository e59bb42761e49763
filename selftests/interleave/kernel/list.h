/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's lists, as far as the modules use them. The scheduler may switch where one
 * is half changed: whoever looks into it then had no lock. Not for the simulator itself
 * (INTERLEAVE_ITSELF), which has none.
 */
#ifndef INTERLEAVE_LIST_H
#define INTERLEAVE_LIST_H

#include "atomic.h"

/* --- doubly linked, in a ring --- */

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

#define LIST_HEAD(name)	struct list_head name = { &name, &name }

#ifdef INTERLEAVE_ITSELF
#define list_half_changed()
#else
#define list_half_changed() do {						\
	sim_site();							\
	sim_point(SIM_LOOK);						\
} while (0)
#endif

/* What is taken out of a list must not be followed. */
#define LIST_POISON	((void *)0x100)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_link(struct list_head *prev, struct list_head *next)
{
	prev->next = next;
	next->prev = prev;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	struct list_head *next = head->next;

	entry->next = next;
	entry->prev = head;
	head->next = entry;
	list_half_changed();
	next->prev = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	list_half_changed();
	entry->next->prev = entry->prev;
	entry->next = LIST_POISON;
	entry->prev = LIST_POISON;
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void list_del_init(struct list_head *entry)
{
	list_link(entry->prev, entry->next);
	INIT_LIST_HEAD(entry);
}

/* Those of @list come behind @at. */
static inline void list_splice(const struct list_head *list, struct list_head *at)
{
	if (list_empty(list))
		return;
	list_link(list->prev, at->next);
	list_link(at, list->next);
}

static inline void list_splice_init(struct list_head *list, struct list_head *at)
{
	list_splice(list, at);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *at)
{
	list_splice_init(list, at->prev);
}

/* Moves those of @head before @entry, which may be @head itself, to @list. */
static inline void list_cut_before(struct list_head *list, struct list_head *head,
				   struct list_head *entry)
{
	INIT_LIST_HEAD(list);
	if (head->next == entry)
		return;
	list_link(list, head->next);
	list_link(entry->prev, list);
	list_link(head, entry);
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next(pos, member)	list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_before(pos, member)	list_entry((pos)->member.prev, typeof(*(pos)), member)
#define list_for_each(pos, head) \
	for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_entry((head)->next, typeof(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_next(pos, member))
#define list_for_each_entry_continue(pos, head, member)		\
	for (pos = list_next(pos, member); &pos->member != (head);	\
	     pos = list_next(pos, member))
#define list_for_each_entry_continue_reverse(pos, head, member)	\
	for (pos = list_before(pos, member); &pos->member != (head);	\
	     pos = list_before(pos, member))
#define list_for_each_entry_safe(pos, after, head, member)		\
	for (pos = list_entry((head)->next, typeof(*pos), member),	\
	     after = list_next(pos, member);				\
	     &pos->member != (head);					\
	     pos = after, after = list_next(after, member))

/* --- the same for those who read under RCU */

static inline void list_add_tail_rcu(struct list_head *entry, struct list_head *head)
{
	list_add_tail(entry, head);
}

/* Who is at @entry goes on to those behind it. */
static inline void list_del_rcu(struct list_head *entry)
{
	entry->prev->next = entry->next;
	list_half_changed();
	entry->next->prev = entry->prev;
	entry->prev = LIST_POISON;
}

/* What a loop is at may be gone before the next step, where no such section holds that back. */
static inline struct list_head *list_first_rcu(const struct list_head *head)
{
	SIM_CHECK(current->nr_rcu);
	return head->next;
}

#define list_for_each_entry_rcu(pos, head, member)			\
	for (pos = list_entry(list_first_rcu(head), typeof(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_next(pos, member))

/* --- hash buckets --- */

struct hlist_node {
	struct hlist_node *next;
	struct hlist_node **link;
};

struct hlist_head {
	struct hlist_node *first;
};

#define INIT_HLIST_HEAD(head)	((head)->first = NULL)

static inline bool hlist_empty(const struct hlist_head *head)
{
	return !READ_ONCE(head->first);
}

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	if (node->next)
		node->next->link = &node->next;
	node->link = &head->first;
	WRITE_ONCE(head->first, node);
}

static inline void hlist_del(struct hlist_node *node)
{
	if (node->next)
		node->next->link = node->link;
	WRITE_ONCE(*node->link, node->next);
	node->next = LIST_POISON;
	node->link = LIST_POISON;
}

#define hlist_entry_or_null(ptr, type, member) ({			\
	struct hlist_node *node_ = (ptr);				\
									\
	node_ ? container_of(node_, type, member) : NULL; })
#define hlist_for_each_entry(pos, head, member)					\
	for (pos = hlist_entry_or_null((head)->first, typeof(*pos), member);	\
	     pos;								\
	     pos = hlist_entry_or_null(pos->member.next, typeof(*pos), member))

/* --- lists without a lock --- */

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

#define llist_entry(ptr, type, member)	container_of(ptr, type, member)

static inline void init_llist_head(struct llist_head *head)
{
	head->first = NULL;
}

static inline void llist_add(struct llist_node *node, struct llist_head *head)
{
	struct llist_node *first = READ_ONCE(head->first);

	do {
		node->next = first;
	} while (!try_cmpxchg(&head->first, &first, node));
}

/* Callers are serialised, as in the kernel. */
static inline struct llist_node *llist_del_first(struct llist_head *head)
{
	struct llist_node *first = READ_ONCE(head->first);

	do {
		if (!first)
			return NULL;
	} while (!try_cmpxchg(&head->first, &first, READ_ONCE(first->next)));
	return first;
}

#endif
