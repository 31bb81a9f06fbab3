# A loop as long as amount/awk says in percent.
BEGIN {
	if ((getline percent <"amount/awk") < 1 || percent < 1) {
		print "amount/awk holds no amount" >"/dev/stderr"
		exit 1
	}
	for (i = 0; i < 3000 * percent; i++)
		sum += i * i % 7
	print sum
}
