// SPDX-License-Identifier: GPL-2.0
/*
 * The command area.  A command writes the request behind its head, then the head, which starts the
 * command, then reads the answer, head first.  The function has only one such area, so the lock
 * covers the whole sequence.
 */
#include "ism_pci.h"

static int __ask(struct ism_pci *ism, const struct ism_head *head, const void *body)
{
	u32 len = be16_to_cpu(head->len) - sizeof(*head);
	int rc = 0;

	lockdep_assert_held(&ism->command_lock);
	if (len)
		rc = ism->access->write(ism, sizeof(*head), body, len);
	return rc ?: ism->access->write(ism, 0, head, sizeof(*head));
}

/* A function that answers another command is lost: it might take a token for an address next. */
static int __answer(struct ism_pci *ism, const struct ism_head *request, void *answer, u32 len)
{
	struct ism_head *head = answer;
	int rc;

	lockdep_assert_held(&ism->command_lock);
	head->rc = cpu_to_be16(ISM_NO_ANSWER);
	rc = ism->access->read(ism, 0, head, sizeof(*head));
	if (rc || head->rc == cpu_to_be16(ISM_NO_ANSWER) || head->command != request->command)
		return -ENODEV;
	if (head->rc)
		return -EIO;
	if (be16_to_cpu(head->len) < len)
		return -ENODEV;
	if (len > sizeof(*head))
		rc = ism->access->read(ism, sizeof(*head), head + 1, len - sizeof(*head));
	return rc ? -ENODEV : 0;
}

/**
 * ism_command() - execute a command
 * @ism: the function
 * @command: the command
 * @request: begins with a struct ism_head, whose content is ignored; aligned to 8 bytes
 * @len: length of @request
 * @answer: receives the answer, which begins with a struct ism_head; may be the same as @request
 * @answer_len: bytes of the answer to read, at least the head
 *
 * Context: process, may sleep.
 * Return: 0; -EIO if the command failed; -ENODEV if the function is gone, or if it did not answer
 * or its answer was malformed: then it is lost.
 */
int ism_command(struct ism_pci *ism, enum ism_command command, void *request, u32 len,
		void *answer, u32 answer_len)
{
	struct ism_head head = { .command = cpu_to_be32(command), .len = cpu_to_be16(len) };
	int rc = -ENODEV;

	mutex_lock(&ism->command_lock);
	if (!ism_gone(ism)) {
		rc = __ask(ism, &head, request + sizeof(head)) ? -ENODEV :
		     __answer(ism, &head, answer, answer_len);
		if (rc == -ENODEV)
			ism_lose(ism, "it does not answer");
	}
	mutex_unlock(&ism->command_lock);
	return rc;
}

/**
 * ism_tell() - execute a command with at most one number as argument
 * @ism: the function
 * @command: the command
 * @value: the number; not sent if @command takes none
 *
 * Context: process, may sleep.
 * Return: see ism_command().
 */
int ism_tell(struct ism_pci *ism, enum ism_command command, u64 value)
{
	bool none = command == ISM_UNREGISTER_SBA || command == ISM_UNREGISTER_IEQ;
	struct ism_one one = { .value = cpu_to_be64(value) };

	return ism_command(ism, command, &one, none ? sizeof(one.head) : sizeof(one), &one,
			   sizeof(one.head));
}

/**
 * ism_ask() - execute a command that returns a number
 * @ism: the function
 * @command: the command
 * @value: receives the number
 *
 * Context: process, may sleep.
 * Return: see ism_command().
 */
int ism_ask(struct ism_pci *ism, enum ism_command command, u64 *value)
{
	struct ism_one one = {};
	int rc = ism_command(ism, command, &one, sizeof(one.head), &one, sizeof(one));

	if (!rc)
		*value = be64_to_cpu(one.value);
	return rc;
}
