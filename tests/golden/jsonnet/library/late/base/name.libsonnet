{ name: 'last' }
